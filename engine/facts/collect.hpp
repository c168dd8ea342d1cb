// Facts: raw text of the files and commands that the plan names. Nothing is parsed here: the head
// node parses, so that newer rules can judge a snapshot again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace wireproof::facts {

enum class Status { ok, missing, denied, timeout, failed };

struct Fact {
  FactRequest::Kind kind = FactRequest::Kind::file;
  Status status = Status::failed;
  std::string path;
  std::vector<std::string> argv;
  std::string text;
  std::string reason;  // the system error or the command's standard error if status is not ok
  std::optional<int> exit_status;  // of commands; 128 + signal if a signal ended it
  bool truncated = false;
};

/// One fact for a file or a command. A glob gives one fact of kind glob, whose text lists the
/// matching paths one per line (so that absence is evidence too), and then a fact of kind file for
/// each match that is not a directory; at most kMaxMatches of them. Every request ends within its
/// timeout_ms (the files of a glob share one), even on a hung file system: a thread that hangs is
/// abandoned.
inline constexpr std::size_t kMaxMatches = 1024;
/// Below a `root` other than "/", only files of that folder are read (base/tree.hpp), and no
/// command is run, because it would report on this machine. The path "interfaces" requests the list
/// of network interfaces (facts/interfaces.hpp), "pci" the registers that control PCI Express
/// (facts/pci.hpp). If /sys belongs to another network namespace, the kernel answers for
/// /sys/class/net instead.
std::vector<Fact> collect(const FactRequest& request, const std::string& root = "/");

/// One `fact` frame without its newline; `text` passes through the JSON writer, which replaces
/// invalid UTF-8.
std::string frame(int rank, const Fact& fact);

/// The subcommand: argv[0] is "facts", then `--spec FILE` or `--spec -` (standard input, the
/// default) and `--root DIR`. The spec is a plan of which only the `fact` lines are used. Frames go
/// to standard output, as rank 0. Returns the exit status: 0 if every request was answered (a
/// missing file is an answer), 2 for bad arguments or a bad spec, 4 if the output could not be
/// written.
int facts_main(int argc, char** argv);

}  // namespace wireproof::facts
