# Which interpreter runs the tests and is given the bindings. Debian's own first: its modules (python3-jsonschema, pytest,
# numpy) belong to it, and another python3 earlier in PATH has no use for them.
find_program(TENT_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TENT_PYTHON3 python3)
set(Python_EXECUTABLE ${TENT_PYTHON3} CACHE FILEPATH "The interpreter that the Python package is built for")

# ON, OFF, or AUTO: with the tests, where pybind11 is there. Whether it is built is TENT_PYTHON, which is not kept: the same
# build folder may be configured for the tests later. An interpreter could not load a sanitized library.
set(TENT_BUILD_PYTHON AUTO CACHE STRING "Build the Python package (needs pybind11-dev and python3-dev): ON, OFF or AUTO")
set(TENT_PYTHON OFF)
if(TENT_BUILD_PYTHON STREQUAL "AUTO")
  set(wanted OFF)
  if(TENT_BUILD_TESTS AND NOT TENT_SANITIZE)
    set(wanted ON)
  endif()
else()
  set(wanted ${TENT_BUILD_PYTHON})
endif()
if(NOT wanted)
  return()
endif()
if(TENT_SANITIZE)
  message(FATAL_ERROR "TENT_BUILD_PYTHON with TENT_SANITIZE: an interpreter cannot load a sanitized library. Choose one.")
endif()
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
if(Python_FOUND)  # otherwise pybind11 would look for others by itself
  find_package(pybind11 2.10 CONFIG QUIET)
endif()
if(NOT pybind11_FOUND)
  set(missing "pybind11 2.10 or the headers of ${Python_EXECUTABLE} are missing: scripts/setup test")
  if(TENT_BUILD_PYTHON STREQUAL "AUTO")
    message(STATUS "The Python package and its tests are left out: ${missing}")
    return()
  endif()
  message(FATAL_ERROR "TENT_BUILD_PYTHON: ${missing}")
endif()
set(TENT_PYTHON ON)

execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('platlib', 'posix_prefix', {'base': '', 'platbase': ''}).lstrip('/'))"
  OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(TENT_PYTHON_INSTALL_DIR ${site_packages} CACHE STRING "Where the Python package is installed, below the prefix")
