// Allows only one tune at a time on a machine.
#pragma once

#include <optional>
#include <string>

#include "node/system.hpp"
#include "node/tune/writers.hpp"

namespace wireproof::tune {

// Held until it is destroyed, or until its process ends in any way.
class Lock {
 public:
  // Takes the lock of the state folder, or throws Failure with the holder. `purpose` is the text
  // that other users see: "apply SET".
  static Lock take(const Fd& state, const std::string& purpose);
  // Waits for it.
  static Lock wait(const Fd& state, const std::string& purpose);

  Writers& writers() { return writers_; }

 private:
  Lock(Fd file, Fd writers) : file_(std::move(file)), writers_(std::move(writers)) {}
  static Lock open(const Fd& state);
  void sign(const std::string& purpose);

  Fd file_;
  Writers writers_;
};

}  // namespace wireproof::tune
