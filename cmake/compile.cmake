# How our code is compiled: several sources at once, on top of common headers
# that each preset compiles once. Both save parsing the same headers again for
# every file, which was most of a build. The tidy preset turns both off, so that
# every file is also seen alone.
option(STEPCAST_BATCHES "compile several sources of a target at once" ON)
option(STEPCAST_COMMON_HEADERS "compile the common headers once" ON)

# Whoever changes a file waits for its batch to compile. Larger batches compile
# faster as a whole; with the default one takes about five seconds.
set(STEPCAST_BATCH_BYTES 36000 CACHE STRING "bytes of source in a batch")

# ccache wants to see which precompiled header a preprocessed source used, and
# no time stamps in those of clang (tools/build.sh has the rest).
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

# g++ collects its garbage again and again with what precompiled headers bring
# along. A compilation here needs 0.6 GB without collecting; that saves a tenth
# of the time.
if(STEPCAST_COMMON_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()

# Headers of other people that many of our files include.
set(common_headers
  <algorithm> <array> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring>
  <filesystem> <functional> <iterator> <limits> <map> <memory> <numeric>
  <optional> <set> <span> <string> <string_view> <tuple> <type_traits>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h>
  <tl/expected.hpp>)

# Ours that most files of the modules above the engine include, and those of the
# reports and commands besides.
set(engine_headers
  engine/run/predict_model.h engine/explain/step_result.h hw/cluster.h model/build_graph.h)
set(document_headers
  ${engine_headers} scenario/scenario.h scenario/resolve.h view/doc.h)
list(TRANSFORM engine_headers PREPEND ${PROJECT_SOURCE_DIR}/src/)
list(TRANSFORM document_headers PREPEND ${PROJECT_SOURCE_DIR}/src/)

# Tests are compiled without optimisation, what they test with it; what asks and
# answers, which takes no time when it runs, with little.
set(test_options $<$<CONFIG:RelWithDebInfo>:-O0>)
set(document_options $<$<CONFIG:RelWithDebInfo>:-O1>)

# stepcast_common_headers(<target> HEADERS ... LINK ... [OPTIONS ...]): the
# target that compiles these headers for all that are given it.
function(stepcast_common_headers target)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/${target}.cc)
  file(CONFIGURE OUTPUT ${source}
       CONTENT "// Compiles the common headers (cmake/compile.cmake).\n")
  add_library(${target} OBJECT ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE ${ARG_LINK} stepcast_warnings)
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
endfunction()

if(STEPCAST_COMMON_HEADERS)
  stepcast_common_headers(stepcast_headers
    HEADERS ${common_headers} LINK fmt::fmt)
  stepcast_common_headers(stepcast_engine_headers
    HEADERS ${common_headers} ${engine_headers} LINK fmt::fmt)
  stepcast_common_headers(stepcast_document_headers
    HEADERS ${common_headers} ${document_headers} LINK fmt::fmt
    OPTIONS ${document_options})
  if(BUILD_TESTING)
    stepcast_common_headers(stepcast_test_headers
      HEADERS ${common_headers} <gmock/gmock.h> <gtest/gtest.h>
      LINK fmt::fmt GTest::gmock OPTIONS ${test_options})
  endif()
endif()

# stepcast_alone(<source>...): sources whose hot loops the compiler inlines less
# far in the company of others, or that nothing else may come before.
function(stepcast_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Puts the sources of a target into batches of at most `limit` bytes (or one
# source), in the order of its list.
function(stepcast_batches target limit)
  if(NOT STEPCAST_BATCHES)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(batch 0)
  set(bytes 0)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
               NORMALIZE)
    if(EXISTS ${source} AND source MATCHES "\\.cc$")
      file(SIZE ${source} size)
      math(EXPR bytes "${bytes} + ${size}")
      if(bytes GREATER limit)
        math(EXPR batch "${batch} + 1")
        set(bytes ${size})
      endif()
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                                             UNITY_BUILD_MODE GROUP)
endfunction()

# stepcast_compile(<target> [TESTS|DOCUMENTS|ENGINE] [HEAVY]): our warnings,
# common headers and batches. TESTS: with the headers of GoogleTest and the
# options of tests; DOCUMENTS, ENGINE: with these headers (and options) from
# above. HEAVY: sources that take long to compile for their size; smaller batches.
function(stepcast_compile target)
  cmake_parse_arguments(ARG "TESTS;DOCUMENTS;ENGINE;HEAVY" "" "" ${ARGN})
  target_link_libraries(${target} PRIVATE stepcast_warnings)
  set(headers stepcast_headers)
  if(ARG_TESTS)
    set(headers stepcast_test_headers)
    target_compile_options(${target} PRIVATE ${test_options})
  elseif(ARG_DOCUMENTS)
    set(headers stepcast_document_headers)
    target_compile_options(${target} PRIVATE ${document_options})
  elseif(ARG_ENGINE)
    set(headers stepcast_engine_headers)
  endif()
  if(STEPCAST_COMMON_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
  set(limit ${STEPCAST_BATCH_BYTES})
  if(ARG_HEAVY)
    math(EXPR limit "${limit} * 6 / 10")
  endif()
  stepcast_batches(${target} ${limit})
endfunction()
