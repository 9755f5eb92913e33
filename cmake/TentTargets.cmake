# How the project's targets are made: one static library a folder under lib/, one executable a tool or test, all with
# the same language level, warnings and sanitizers.

add_library(tent_options INTERFACE)
target_compile_features(tent_options INTERFACE cxx_std_20)
target_include_directories(tent_options INTERFACE ${PROJECT_SOURCE_DIR}/lib)
target_compile_options(tent_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${TENT_WERROR}>:-Werror>)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes the sources that are put together for headers, whose types must not have members of a nameless namespace.
  target_compile_options(tent_options INTERFACE -Wno-subobject-linkage)
endif()
if(TENT_SANITIZE)
  target_compile_options(tent_options INTERFACE -fsanitize=${TENT_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(tent_options INTERFACE -fsanitize=${TENT_SANITIZE})
endif()

# tent_library(NAME SOURCES a.cc ... DEPS tent::base fmt::fmt ... [PRIVATE_DEPS ...]): the static library tent_NAME, alias
# tent::NAME. DEPS are what its headers include, PRIVATE_DEPS what only its sources do.
function(tent_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(tent_${name} STATIC ${arg_SOURCES})
  add_library(tent::${name} ALIAS tent_${name})
  set_target_properties(tent_${name} PROPERTIES
    CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(tent_${name} PUBLIC tent_options ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
endfunction()

# tent_tool(NAME SOURCES ... DEPS ...): the executable NAME in <build>/bin, installed.
function(tent_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_link_libraries(${name} PRIVATE tent_options ${arg_DEPS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# Where engines in tests find, or make, the token of their user: not in the home of who runs them.
set(TENT_TEST_PLACE "XDG_STATE_HOME=set:${PROJECT_BINARY_DIR}/tests/state")

# tent_unit_test(NAME SOURCES ... DEPS ... [LABELS ...]): a doctest executable, run as the ctest NAME.
function(tent_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE tent_options tent_test_main ${arg_DEPS})
  target_precompile_headers(${name} REUSE_FROM tent_test_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300 SKIP_RETURN_CODE 77
                                                ENVIRONMENT_MODIFICATION "${TENT_TEST_PLACE}")
endfunction()
