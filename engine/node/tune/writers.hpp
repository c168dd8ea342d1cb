// Writes in progress: a write may outlive its tune if that is killed, and its time limit if it
// hangs in the kernel. It must not be executed after the old value was restored.
#pragma once

#include <sys/types.h>

#include <vector>

#include "node/system.hpp"

namespace wireproof::tune {

class Writers {
 public:
  // A file of the state folder. Every write of this process keeps it open and locked.
  explicit Writers(Fd file) : file_(std::move(file)) {}

  int descriptor() const { return file_.get(); }
  // Records a child of this process that was left behind.
  void leave_behind(pid_t child) { left_.push_back(child); }

  // Whether a write of this process or of an earlier tune is in progress.
  bool hang();
  // Waits for writes of earlier tunes to end, at most for this time.
  void wait(int patience_ms);

 private:
  Fd file_;
  std::vector<pid_t> left_;
};

}  // namespace wireproof::tune
