// One tune at a time on a machine.
#pragma once

#include <optional>
#include <string>

#include "node/system.hpp"

namespace wireproof::tune {

// Held until it is destroyed, or its process ends however it ends.
class Lock {
 public:
  // Takes the lock of the state folder, or throws Failure that says who holds it. `purpose` is what
  // others are shown: "apply SET".
  static Lock take(const Fd& state, const std::string& purpose);
  // Waits for it.
  static Lock wait(const Fd& state, const std::string& purpose);

  // A read or write of an earlier tune that was killed may still be under way: waits for its end,
  // at most so long. False: it hangs.
  bool wait_for_writers(int patience_ms);
  // What a read or a write keeps open while it is under way.
  int writers() const { return writers_.get(); }

 private:
  Lock(Fd file, Fd writers) : file_(std::move(file)), writers_(std::move(writers)) {}
  static Lock open(const Fd& state);
  void sign(const std::string& purpose);

  Fd file_;
  Fd writers_;
};

}  // namespace wireproof::tune
