// Two programs in one thread that take turns, so that one process can simulate both ends of a pair
// (null and model transports). Turns change only when an end has to wait, so a simulated world is
// the same on every machine and in every run.
#pragma once

#include <ucontext.h>

#include <exception>
#include <functional>
#include <memory>

namespace wireproof {

class TurnTaking {
 public:
  TurnTaking();

  /// Runs `first` on the caller's stack and `second` on a separate stack; returns when both have
  /// ended. An exception of either end is rethrown here after that end has stopped; the other end
  /// is then abandoned.
  void run(const std::function<void()>& first, const std::function<void()>& second);

  /// Called by the end that waits; the other end continues. Throws Failure if the other end has
  /// already ended.
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
