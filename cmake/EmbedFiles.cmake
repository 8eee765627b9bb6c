# profd_embed_web(<source> <folder>): a C++ file that defines profd::web_bundle() of all files of a folder, which need not be
# there: then it is empty. The assembler takes the bytes as they are.
function(profd_embed_web source folder)
  file(GLOB files RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*)
  list(SORT files)
  set(blobs "")
  set(rows "")
  set(paths "")
  set(number 0)
  foreach(file ${files})
    get_filename_component(ending ${file} LAST_EXT)
    if(ending STREQUAL ".html")
      set(type "text/html; charset=utf-8")
    elseif(ending STREQUAL ".js")
      set(type "text/javascript; charset=utf-8")
    elseif(ending STREQUAL ".css")
      set(type "text/css; charset=utf-8")
    elseif(ending STREQUAL ".svg")
      set(type "image/svg+xml")
    elseif(ending STREQUAL ".png")
      set(type "image/png")
    elseif(ending STREQUAL ".json")
      set(type "application/json")
    elseif(ending STREQUAL ".txt")
      set(type "text/plain; charset=utf-8")
    else()
      message(FATAL_ERROR "${folder}/${file}: profd serves no files that end like this; see cmake/EmbedFiles.cmake")
    endif()
    string(APPEND blobs "PROFD_BLOB(${number}, \"${folder}/${file}\")\n")
    string(APPEND rows "    {\"/${file}\", \"${type}\", {profd_blob_${number}, static_cast<std::size_t>(profd_blob_end_${number} - profd_blob_${number})}},\n")
    list(APPEND paths ${folder}/${file})
    math(EXPR number "${number} + 1")
  endforeach()
  if(number EQUAL 0)
    set(body "std::span<const WebFile> web_bundle() {\n  return {};\n}\n")
  else()
    set(body "std::span<const WebFile> web_bundle() {\n  static const WebFile files[] = {\n${rows}  };\n  return files;\n}\n")
  endif()
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Made of the files of ${folder} by cmake/EmbedFiles.cmake.
#include \"server/transport/web_bundle.h\"

#ifdef __APPLE__
#define PROFD_SECTION \".section __TEXT,__const\\n\"
#define PROFD_SYMBOL \"_\"
#else
#define PROFD_SECTION \".section .rodata\\n\"
#define PROFD_SYMBOL \"\"
#endif
#define PROFD_BLOB(number, path) \\
  __asm__(PROFD_SECTION \".globl \" PROFD_SYMBOL \"profd_blob_\" #number \"\\n\" \\
          PROFD_SYMBOL \"profd_blob_\" #number \":\\n.incbin \\\"\" path \"\\\"\\n\" \\
          \".globl \" PROFD_SYMBOL \"profd_blob_end_\" #number \"\\n\" \\
          PROFD_SYMBOL \"profd_blob_end_\" #number \":\\n.byte 0\\n.text\\n\"); \\
  extern \"C\" const char profd_blob_##number[], profd_blob_end_##number[];

${blobs}
namespace profd {

${body}
}  // namespace profd
")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${paths}" SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
