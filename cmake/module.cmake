# stepcast_module(<name> [DOCUMENTS|ENGINE] [HEAVY] SOURCES ... TESTS ...
#                 DEPS ... LINK ...)
#
# One folder under src/ is one module: a static library, its unit tests, and the
# modules it may include. DEPS is the single place where that is declared; the
# layer check compares it with the #include lines. DOCUMENTS, ENGINE, HEAVY: as in
# stepcast_compile.
function(stepcast_module name)
  cmake_parse_arguments(ARG "DOCUMENTS;ENGINE;HEAVY" "" "SOURCES;TESTS;DEPS;LINK" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND stepcast_ OUTPUT_VARIABLE libraries)
  add_library(stepcast_${name} STATIC ${ARG_SOURCES})
  target_include_directories(stepcast_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(stepcast_${name} PUBLIC ${ARG_LINK} ${libraries})
  set(how)
  foreach(word DOCUMENTS ENGINE HEAVY)
    if(ARG_${word})
      list(APPEND how ${word})
    endif()
  endforeach()
  stepcast_compile(stepcast_${name} ${how})
  list(JOIN ARG_DEPS "," deps_text)
  set_property(GLOBAL APPEND PROPERTY STEPCAST_LAYERS "${name}:${deps_text}")
  if(BUILD_TESTING AND ARG_TESTS)
    stepcast_test(${name}_test LABEL unit
                  SOURCES ${ARG_TESTS} LINK stepcast_${name})
  endif()
endfunction()
