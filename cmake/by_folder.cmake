# Most of a small file's time goes into the same headers, so the files of a folder are compiled together (unity builds;
# -DCMAKE_UNITY_BUILD=OFF compiles each alone, as tools/lint-cpp looks at them).
set(CMAKE_UNITY_BUILD ON CACHE BOOL "compile the files of a folder together")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)

# add_folders(<target> <folder>...): the .cpp files of these folders of the engine, each folder together.
function(add_folders target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/${folder}/*.cpp)
    list(FILTER found EXCLUDE REGEX "/find_object[.]cpp$")  # add_program() has it
    target_sources(${target} PRIVATE ${found})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${found} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# compile_alone(<file>...): these files of this folder are compiled by themselves.
function(compile_alone)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# What most files include of the standard library, parsed once for each level of optimisation: precompile(<target>)
# parses it, precompile(<target> <of>) takes what was parsed for a target of the same flags. The machine code stays the
# same. For packages only: GCC's warnings about system headers are no longer suppressed where these are precompiled.
function(precompile target)
  if(NOT SKBUILD)
    return()
  elseif(ARGC GREATER 1)
    target_precompile_headers(${target} REUSE_FROM ${ARGV1})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstring> <functional> <map> <memory> <optional>
                              <span> <string> <string_view> <utility> <vector>)
  endif()
endfunction()
