// Runs a command from an argument list: no shell, bounded output, bounded time.
#pragma once

#include "facts/collect.hpp"

namespace wireproof::facts {

// Runs in a separate process group, which is killed as a whole at the deadline and after the
// command has ended; standard input is /dev/null; no descriptor is inherited; the environment is
// the site's in the C locale, without the variables of the launcher and the loader. Bytes beyond
// limit_bytes are read and dropped, so that they do not change the command's exit status.
Fact run_command(const FactRequest& request);

// The environment that commands get, derived from `environment` (NULL-terminated). Tested without
// running anything.
std::vector<std::string> command_environment(const char* const* environment);

}  // namespace wireproof::facts
