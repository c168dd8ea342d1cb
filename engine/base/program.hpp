// Runs a program from an argument list: no shell, bounded output, bounded time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wireproof {

/// Removes relative and empty entries from PATH: they mean the current folder, where any user may
/// have put programs. Adds /usr/sbin and /sbin, where ethtool is and which users' PATHs often lack.
/// Call it first in main, before any thread starts.
void search_absolute_folders_only();

/// If argv[0] contains a slash, it is that file; otherwise it is searched in the caller's PATH.
struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // all of it, "NAME=value"
  std::size_t limit_bytes = 0;           // of standard output
  int timeout_ms = 0;
};

struct Ended {
  int start_error = 0;             // errno if it could not be started
  bool in_time = true;             // false if it was killed at its deadline
  std::optional<int> exit_status;  // 128 + signal if a signal ended it
  std::string text;                // standard output, at most limit_bytes
  bool truncated = false;
  std::string errors;  // standard error, at most 4096 bytes
};

/// Runs in a separate process group, which is killed as a whole at the deadline and after the
/// program has ended; standard input is /dev/null; no descriptor is inherited. Bytes beyond
/// limit_bytes are read and dropped, so that they do not change the program's exit status.
Ended run_program(const Program& program);

}  // namespace wireproof
