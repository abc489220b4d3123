# stepcast_module(<name> [HEAVY] SOURCES ... TESTS ... DEPS ... LINK ...)
#
# One folder under src/ is one module: a static library, its unit tests, and the
# modules it may include. DEPS is the single place where that is declared; the
# layer check compares it with the #include lines. HEAVY: as in stepcast_compile.
function(stepcast_module name)
  cmake_parse_arguments(ARG "HEAVY" "" "SOURCES;TESTS;DEPS;LINK" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND stepcast_ OUTPUT_VARIABLE libraries)
  add_library(stepcast_${name} STATIC ${ARG_SOURCES})
  target_include_directories(stepcast_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(stepcast_${name} PUBLIC ${ARG_LINK} ${libraries})
  if(ARG_HEAVY)
    stepcast_compile(stepcast_${name} HEAVY)
  else()
    stepcast_compile(stepcast_${name})
  endif()
  list(JOIN ARG_DEPS "," deps_text)
  set_property(GLOBAL APPEND PROPERTY STEPCAST_LAYERS "${name}:${deps_text}")
  if(BUILD_TESTING AND ARG_TESTS)
    stepcast_test(${name}_test LABEL unit
                  SOURCES ${ARG_TESTS} LINK stepcast_${name})
  endif()
endfunction()
