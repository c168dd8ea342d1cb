// Facts: raw text of the files and commands that the plan names. Nothing is parsed here: the head
// node does that, so that a snapshot can be judged again by newer rules.
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
  std::string
      reason;  // what was seen when status is not ok: system error, or the command's standard error
  std::optional<int> exit_status;  // commands; 128 + signal when a signal ended it
  bool truncated = false;
};

/// One fact for a file or a command. A glob gives one fact of kind glob, whose text lists the
/// matching paths one per
/// line (so that absence is evidence too), and then one of kind file for each match that is no
// directory; at most
/// kMaxMatches of them. Every request ends within its timeout_ms (the files of a glob share one),
/// even on a hung file system: the thread that hangs there is left behind.
inline constexpr std::size_t kMaxMatches = 1024;
/// Below another `root` than "/", only files of that folder are read (base/tree.hpp) and no command
/// is run: it would tell of this machine. The path "interfaces" asks for the list of the network
/// interfaces (facts/interfaces.hpp), "pci" for what decides over PCI Express (facts/pci.hpp);
/// where /sys is another network namespace's, /sys/class/net is answered by the kernel instead.
std::vector<Fact> collect(const FactRequest& request, const std::string& root = "/");

/// One `fact` frame without its end of line; `text` goes through the JSON writer, so bytes that are
/// no UTF-8 are replaced.
std::string frame(int rank, const Fact& fact);

/// The subcommand: argv[0] is "facts", then `--spec FILE` or `--spec -` (standard input, the
/// default) and `--root DIR`. The spec is a plan of which only the `fact` lines are used. Frames go
/// to standard output, rank 0. Returns the exit status: 0 every request was answered (a missing
/// file is an answer), 2 bad arguments or spec, 4 the output could not be written.
int facts_main(int argc, char** argv);

}  // namespace wireproof::facts
