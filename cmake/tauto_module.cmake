# One room = one static library tauto_<name> with its tests beside it.
#   tauto_module(sched HEADERS sched/a.h SOURCES sched/a.cc DEPS tauto_core TESTS sched/a_test.cc)
# Paths are relative to src/. All tests of a room become one program, <name>_tests, so that
# GoogleTest is linked once; ctest runs it, in the repository's root, as one test labelled `unit`.
# VERIFY_INTERFACE_HEADER_SETS lets `./dev lint` compile each header alone.

add_library(tauto_flags INTERFACE)
target_compile_features(tauto_flags INTERFACE cxx_std_20)
target_compile_options(tauto_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
find_package(Threads REQUIRED)
target_link_libraries(tauto_flags INTERFACE Threads::Threads)

function(tauto_module name)
  cmake_parse_arguments(M "" "" "HEADERS;SOURCES;DEPS;TESTS;TEST_DEPS" ${ARGN})
  set(src ${PROJECT_SOURCE_DIR}/src)
  set(kind PUBLIC)
  if(M_SOURCES)
    list(TRANSFORM M_SOURCES PREPEND ${src}/)
    add_library(tauto_${name} STATIC ${M_SOURCES})
  else()
    add_library(tauto_${name} INTERFACE)
    set(kind INTERFACE)
  endif()
  list(TRANSFORM M_HEADERS PREPEND ${src}/)
  target_sources(tauto_${name} ${kind} FILE_SET HEADERS BASE_DIRS ${src} FILES ${M_HEADERS})
  target_link_libraries(tauto_${name} ${kind} tauto_flags ${M_DEPS})
  set_target_properties(tauto_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  if(TAUTO_TESTS AND M_TESTS)
    list(TRANSFORM M_TESTS PREPEND ${src}/)
    add_executable(${name}_tests ${M_TESTS})
    target_link_libraries(${name}_tests PRIVATE tauto_${name} ${M_TEST_DEPS} GTest::gtest_main)
    # Relative, and tests run in the root: no path of one clone enters the objects, so that clones
    # share the compiler cache.
    target_compile_definitions(${name}_tests PRIVATE TAUTO_SOURCE_DIR=".")
    add_test(NAME ${name} COMMAND ${name}_tests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 600)
  endif()
endfunction()
