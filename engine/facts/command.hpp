// Runs one command of an argv list: no shell, bounded output, bounded time.
#pragma once

#include "facts/collect.hpp"

namespace wireproof::facts {

// Own process group, killed as a whole at the deadline and after the command has ended; standard
// input /dev/null; no inherited descriptor; the site's environment in the C locale, without the
// launcher's and the loader's variables. Bytes beyond limit_bytes are read and dropped, so that the
// exit status stays the command's own.
Fact run_command(const FactRequest& request);

// The environment that commands get, made from `environment` (NULL-terminated). Tested without
// running anything.
std::vector<std::string> command_environment(const char* const* environment);

}  // namespace wireproof::facts
