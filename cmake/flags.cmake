# Flags of everything that we compile. libstdc++ and libgcc are linked in: the nodes need no C++ run time.
add_library(wireproof_flags INTERFACE)
target_compile_options(wireproof_flags INTERFACE -fPIC -ffunction-sections -fdata-sections)
target_compile_definitions(wireproof_flags INTERFACE _GNU_SOURCE)
target_link_options(wireproof_flags INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,-z,relro)
# A package is the same bytes wherever it is built, and no warning of another compiler's stops a user's installation.
if(NOT SKBUILD)
  target_compile_options(wireproof_flags INTERFACE -Wall -Wextra -Wpedantic -Werror)
else()
  target_compile_options(wireproof_flags INTERFACE
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
endif()
