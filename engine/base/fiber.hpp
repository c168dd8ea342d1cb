// Two programs in one thread that take turns: how one process plays both ends of a pair (null and
// model transports). Turns change only where an end has to wait, so a simulated world is the same
// on every machine and in every run.
#pragma once

#include <ucontext.h>

#include <exception>
#include <functional>
#include <memory>

namespace wireproof {

class TurnTaking {
 public:
  TurnTaking();

  /// Runs `first` on the caller's stack and `second` on its own; returns when both have ended. An
  /// exception of either is thrown here after that end has stopped; the other end is abandoned
  /// then.
  void run(const std::function<void()>& first, const std::function<void()>& second);

  /// Called by the end that waits: the other one goes on. Throws Failure when that one has ended.
  void give_turn();

 private:
  static void enter(unsigned high, unsigned low);
  void run_second();

  static constexpr std::size_t kStackBytes = std::size_t{256} * 1024;
  std::unique_ptr<char[]> stack_;
  ucontext_t first_{};
  ucontext_t second_{};
  const std::function<void()>* program_ = nullptr;
  std::exception_ptr failure_;
  bool in_second_ = false;
  bool second_ended_ = true;
  bool first_ended_ = true;
};

}  // namespace wireproof
