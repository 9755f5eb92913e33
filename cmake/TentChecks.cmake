# The checks besides the tests proper, as targets: check, check-headers, format, format-check, lint, man-lint. Those that
# look at a fixed thing of the tree are tests too.

if(NOT TENT_PYTHON3)
  message(FATAL_ERROR "The tests need python3: scripts/setup test")
endif()
find_program(TENT_MANDOC mandoc)

# tent_python_test(NAME script.py ARGS... [LABELS ...]): a ctest that runs the script, which lies beside CMakeLists.txt.
function(tent_python_test name script)
  cmake_parse_arguments(arg "" "" "LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  add_test(NAME ${name} COMMAND ${TENT_PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300 SKIP_RETURN_CODE 77
                                                ENVIRONMENT_MODIFICATION "${TENT_TEST_PLACE}")
endfunction()

# check: everything built, then every test but the slow ones.
add_custom_target(check
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
  COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${PROJECT_BINARY_DIR} -j 2
          --output-on-failure --no-tests=error -LE "^slow$"
  USES_TERMINAL VERBATIM)

# check-headers: each header under lib/ compiled alone, in a unit that holds nothing but its include. A header that has a
# source is included first there (include_direction.py sees to it), so the build has checked it already.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/lib CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/*.h)
set(units)
set(rooms)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.h$" ".cc" source ${header})
  if(EXISTS ${PROJECT_SOURCE_DIR}/lib/${source})
    continue()
  endif()
  set(unit ${PROJECT_BINARY_DIR}/headers/${header}.cc)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n")
  list(APPEND units ${unit})
  string(REGEX MATCH "^[^/]+" room ${header})
  if(TARGET tent::${room})
    list(APPEND rooms tent::${room})
  endif()
endforeach()
list(REMOVE_DUPLICATES rooms)
add_library(check-headers OBJECT EXCLUDE_FROM_ALL ${units})
set_target_properties(check-headers PROPERTIES CXX_EXTENSIONS OFF EXPORT_COMPILE_COMMANDS OFF)
target_compile_options(check-headers PRIVATE -O0 -g0)  # only the front end matters
target_link_libraries(check-headers PRIVATE tent_options ${rooms})
if(NOT TENT_SANITIZE)  # once is enough
  add_test(NAME each_header_compiles_alone
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target check-headers)
  set_tests_properties(each_header_compiles_alone PROPERTIES LABELS fast TIMEOUT 600 PROCESSORS 2)
endif()

add_custom_target(format COMMAND scripts/format WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
add_custom_target(format-check COMMAND scripts/format --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
add_custom_target(lint COMMAND scripts/lint ${PROJECT_BINARY_DIR}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)

# man-lint
file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
if(TENT_MANDOC)
  set(man_lint ${TENT_MANDOC} -T lint -W warning ${pages})
else()
  set(man_lint sh -c "echo 'skipped: mandoc is not installed'; exit 77")
endif()
add_custom_target(man-lint COMMAND ${man_lint} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
add_test(NAME manual_pages_are_well_formed COMMAND ${man_lint} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(manual_pages_are_well_formed PROPERTIES LABELS fast SKIP_RETURN_CODE 77)
