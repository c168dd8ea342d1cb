# Flags of everything that we compile. libstdc++ and libgcc are linked in: the nodes need no C++ run time.
add_library(wireproof_flags INTERFACE)
target_compile_options(wireproof_flags INTERFACE -Wall -Wextra -Wpedantic -Werror -fPIC -ffunction-sections -fdata-sections)
target_compile_definitions(wireproof_flags INTERFACE WIREPROOF_VERSION="${WIREPROOF_VERSION}" _GNU_SOURCE)
target_link_options(wireproof_flags INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,-z,relro)
