// Finds and ends everything that one job has started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace wireproof {

// A job's processes: the descendants of `root`, plus every process whose environment contains
// `mark` ("NAME=value"). The mark finds processes that left the tree: a daemon in a lab node is
// adopted by that node's pid 1, never by a subreaper outside.
class ProcessTree {
 public:
  ProcessTree(pid_t root, std::string mark) : root_(root), mark_(std::move(mark)) {}

  // Sends SIGTERM to all, and SIGKILL to those left after `grace_ms`; meanwhile reaps children of
  // the caller. Returns false if something outlived SIGKILL for five seconds (it hangs in the
  // kernel).
  bool terminate(int grace_ms);

  using Start =
      // start time in clock ticks: together with the pid it identifies a process permanently
      std::uint64_t;

  // Finds the job's processes that are alive now.
  std::map<pid_t, Start> living();

  // Wait status of `child` if it was reaped meanwhile, else -1.
  int status_of(pid_t child) const;

 private:
  void reap();

  pid_t root_;
  std::string mark_;
  std::map<pid_t, Start> known_;
  std::map<pid_t, int> reaped_;
};

// A value that no other job's mark has: 128 random bits in hexadecimal digits.
std::string random_mark();

}  // namespace wireproof
