// Runs one program of an argv list: no shell, bounded output, bounded time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wireproof {

/// Takes relative and empty entries out of the process's PATH: they mean the current folder, whose
/// programs may be anybody's. First in main, before there are threads.
void search_absolute_folders_only();

/// argv[0] with a slash in it is that file; without one it is searched in the caller's PATH.
struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // all of it, "NAME=value"
  std::size_t limit_bytes = 0;           // of standard output
  int timeout_ms = 0;
};

struct Ended {
  int start_error = 0;             // errno: it could not be started
  bool in_time = true;             // false: it was killed at its deadline
  std::optional<int> exit_status;  // 128 + signal when a signal ended it
  std::string text;                // standard output, at most limit_bytes
  bool truncated = false;
  std::string errors;  // standard error, at most 4096 bytes
};

/// Own process group, killed as a whole at the deadline and after the program has ended; standard
/// input /dev/null; no inherited descriptor. Bytes beyond limit_bytes are read and dropped, so that
/// the exit status stays the program's own.
Ended run_program(const Program& program);

}  // namespace wireproof
