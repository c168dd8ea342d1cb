// Writes that are under way: one may outlive its tune, when that is killed, and its patience, when
// it hangs in the kernel. It must not come after the old value was brought back.
#pragma once

#include <sys/types.h>

#include <vector>

#include "node/system.hpp"

namespace wireproof::tune {

class Writers {
 public:
  // A file of the state folder. Every write of this process keeps it open, locked.
  explicit Writers(Fd file) : file_(std::move(file)) {}

  int descriptor() const { return file_.get(); }
  // A child of ours was given up.
  void leave_behind(pid_t child) { left_.push_back(child); }

  // Whether a write of ours or of an earlier tune is under way.
  bool hang();
  // Waits for the end of those of an earlier tune, at most so long.
  void wait(int patience_ms);

 private:
  Fd file_;
  std::vector<pid_t> left_;
};

}  // namespace wireproof::tune
