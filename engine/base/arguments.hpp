// The command line, and the rank that a launcher gives in the environment.
#pragma once

#include <optional>
#include <string>

namespace wireproof {

struct Arguments {
  enum class Verb { run, facts, watch, providers, patterns, version };
  Verb verb = Verb::run;
  std::string plan = "-";
  std::optional<int> rank;
  std::optional<int> ranks;
  std::string meet;
  /// of a rank that does not read the plan: "ofi"; "" = derived from the other arguments
  std::string transport;
};

/// Throws Failure (bad plan: exit 2) that names the argument.
Arguments parse_arguments(int argc, char** argv);

struct LauncherRank {
  int rank = 0;
  int ranks = 1;
};

/// From PMIx, Open MPI, PMI or Slurm; nothing if no launcher is detected. Slurm's variables come
/// last: a launcher inside a batch script inherits those of the script.
std::optional<LauncherRank> launcher_rank();

}  // namespace wireproof
