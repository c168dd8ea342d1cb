// The command line, and the rank that a launcher says in the environment.
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
  std::string transport;  ///< of a rank that is not given the plan: "ofi"; "" = by the others
};

/// Throws Failure (bad plan: exit 2) naming the argument.
Arguments parse_arguments(int argc, char** argv);

struct LauncherRank {
  int rank = 0;
  int ranks = 1;
};

/// From PMIx, Open MPI, PMI or Slurm; nothing when no launcher is seen. Slurm's own comes last:
/// inside a batch script a launcher of its own inherits it.
std::optional<LauncherRank> launcher_rank();

}  // namespace wireproof
