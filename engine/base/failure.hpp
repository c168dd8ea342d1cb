// The only exception type: the function that first detects a problem reports it once, with its
// cause. Thrown only outside of timed regions; main maps it to an `error` frame and an exit status.
#pragma once

#include <stdexcept>
#include <string>

namespace wireproof {

/// Exit statuses of the engine (docs/reference/engine-interface.md).
enum class ExitStatus : int { ok = 0, point_failed = 1, bad_plan = 2, cannot_measure = 4 };

class Failure : public std::runtime_error {
 public:
  Failure(ExitStatus status, std::string code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(std::move(code)) {}
  /// For programs that know only one status and write no frames, such as wireproof-node.
  explicit Failure(const std::string& message) : Failure(ExitStatus::cannot_measure, "", message) {}
  ExitStatus status() const noexcept { return status_; }
  const std::string& code() const noexcept { return code_; }

 private:
  ExitStatus status_;
  std::string code_;
};

/// A point cannot begin, and both ends of the pair know that before they exchange messages: the run
/// continues without the point.
class CannotBegin : public Failure {
 public:
  CannotBegin(std::string code, const std::string& message)
      : Failure(ExitStatus::point_failed, std::move(code), message) {}
};

inline Failure bad_plan(const std::string& message) {
  return Failure(ExitStatus::bad_plan, "bad-plan", message);
}
inline Failure cannot_measure(const std::string& code, const std::string& message) {
  return Failure(ExitStatus::cannot_measure, code, message);
}

}  // namespace wireproof
