# stepcast_embed(<target> NAME <function> FILES ...)
#
# Adds a source to <target> that defines
#   std::span<const stepcast::EmbeddedFile> stepcast::<function>()
# with the name (relative to data/) and the bytes of every file, so that the one
# binary carries its data and runs from anywhere.
function(stepcast_embed target)
  cmake_parse_arguments(ARG "" "NAME" "FILES" ${ARGN})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAME=${ARG_NAME}
            -DROOT=${PROJECT_SOURCE_DIR}/data "-DFILES=${ARG_FILES}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    COMMENT "Embedding data for ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
