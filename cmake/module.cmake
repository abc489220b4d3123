# stepcast_module(<name> SOURCES ... TESTS ... DEPS ... LINK ...)
#
# One folder under src/ is one module: a static library, its unit tests, and the
# modules it may include. DEPS is the single place where that is declared; the
# layer check compares it with the #include lines.
function(stepcast_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPS;LINK" ${ARGN})
  add_library(stepcast_${name} STATIC ${ARG_SOURCES})
  target_include_directories(stepcast_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(stepcast_${name} PRIVATE stepcast_warnings
                                         PUBLIC ${ARG_LINK})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(stepcast_${name} PUBLIC stepcast_${dep})
  endforeach()
  list(JOIN ARG_DEPS "," deps_text)
  set_property(GLOBAL APPEND PROPERTY STEPCAST_LAYERS "${name}:${deps_text}")
  if(BUILD_TESTING AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name}_test PRIVATE stepcast_${name}
                                               stepcast_warnings
                                               GTest::gmock_main)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}."
                         PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
