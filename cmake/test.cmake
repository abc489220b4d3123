# stepcast_test(<name> LABEL <label> SOURCES ... LINK ...)
#
# A program of GoogleTest cases, which ctest runs as <label>.<name>. It names the
# cases that fail and prints how many there were, which ./run_tests adds up.
function(stepcast_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock_main)
  stepcast_compile(${name} TESTS)
  add_test(NAME ${ARG_LABEL}.${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${ARG_LABEL}.${name} PROPERTIES LABELS ${ARG_LABEL})
endfunction()

# stepcast_test_library(<name> SOURCES ... LINK ...): what several tests share.
function(stepcast_test_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  stepcast_compile(${name})
endfunction()

# stepcast_test_program(<name> SOURCES ... LINK ...): a program for tests or
# people that ctest does not run.
function(stepcast_test_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  stepcast_compile(${name})
endfunction()
