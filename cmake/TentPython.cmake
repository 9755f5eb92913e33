# Which interpreter runs the tests and is given the bindings. Debian's own first: its modules (python3-jsonschema, pytest,
# numpy) belong to it, and another python3 earlier in PATH has no use for them.
find_program(TENT_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TENT_PYTHON3 python3)
set(Python_EXECUTABLE ${TENT_PYTHON3} CACHE FILEPATH "The interpreter that the Python package is built for")

# The bindings are built with the tests, where pybind11 is there. An interpreter could not load a sanitized library.
if(TENT_BUILD_PYTHON OR (TENT_BUILD_TESTS AND NOT TENT_SANITIZE))
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)  # otherwise pybind11 would look for others by itself
    find_package(pybind11 2.10 CONFIG QUIET)
  endif()
endif()
set(build_python OFF)
if(TENT_BUILD_TESTS AND NOT TENT_SANITIZE AND pybind11_FOUND)
  set(build_python ON)
endif()
option(TENT_BUILD_PYTHON "Build the Python package (needs pybind11-dev and python3-dev)" ${build_python})
if(NOT TENT_BUILD_PYTHON)
  if(TENT_BUILD_TESTS AND NOT TENT_SANITIZE)
    message(STATUS "The Python package and its tests are left out: pybind11-dev or python3-dev is missing (scripts/setup test)")
  endif()
  return()
endif()
if(TENT_SANITIZE)
  message(FATAL_ERROR "TENT_BUILD_PYTHON with TENT_SANITIZE: an interpreter cannot load a sanitized library. Choose one.")
endif()
if(NOT pybind11_FOUND)
  message(FATAL_ERROR "TENT_BUILD_PYTHON needs pybind11 2.10 and the headers of ${Python_EXECUTABLE}: scripts/setup test")
endif()

execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('platlib', 'posix_prefix', {'base': '', 'platbase': ''}).lstrip('/'))"
  OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(TENT_PYTHON_INSTALL_DIR ${site_packages} CACHE STRING "Where the Python package is installed, below the prefix")
