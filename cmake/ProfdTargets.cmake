# Flags and helpers shared by every target.

# Paths count from the root of the source, so that every tree of it shares what any of them has built.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=time_macros,pch_defines ${PROJECT_SOURCE_DIR}/cmake/ccache.sh)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(profd_flags INTERFACE)
target_compile_options(profd_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
  -Woverloaded-virtual -Wimplicit-fallthrough -Werror=unused-result -Werror=return-type)
if(PROFD_WERROR)
  target_compile_options(profd_flags INTERFACE -Werror)
endif()
target_include_directories(profd_flags INTERFACE ${PROJECT_SOURCE_DIR})

if(PROFD_SANITIZE)
  add_compile_options(-fsanitize=${PROFD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PROFD_SANITIZE})
endif()

# A static library of one layer. Sources are globbed so that adding a file is adding a file.
function(profd_layer name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE;SOURCES" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB_RECURSE ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC profd_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# Headers of others that most files of a target read: parsing them anew for each is a third of a clean build.
# Files still name what they use; the presets without this (clang, the sanitizers) would not build otherwise.
function(profd_precompile name)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT PROFD_SANITIZE)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()

# Files of a target joined in batches of `batch` (0: one batch), for clean builds (every preset but dev): headers are
# read and templates made once a batch. Working builds keep files apart: one that changed builds alone.
function(profd_join name batch)
  if(PROFD_JOIN)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

# The same for targets whose files a working build compiles alone: it would make them all anew for a header of ours.
# ARGN: headers, or REUSE_FROM a target of the same flags (the level of optimisation aside).
function(profd_precompile_joined name)
  if(NOT PROFD_JOIN OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR PROFD_SANITIZE)
    return()
  elseif(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${name} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()

# Where the time of a profile's first view goes. The rest of a release is built with -O2: a third less to compile, and
# no benchmark tells the difference.
function(profd_hot name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O3>)
endfunction()
