// Many programs in one thread, each with a small stack of its own: how one process plays all
// members of a group. Who runs next is the caller's decision, so a simulated world is the same in
// every run.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

namespace wireproof {

class FiberSet {
 public:
  using Program = std::function<void(std::size_t)>;

  /// Every fiber will run `program(its number)`. Throws Failure when there is no memory for the
  /// stacks. Fibers that have not ended with the set are abandoned.
  FiberSet(std::size_t count, Program program);
  ~FiberSet();
  FiberSet(const FiberSet&) = delete;
  FiberSet& operator=(const FiberSet&) = delete;

  /// Begins or continues a fiber; returns when it suspends or ends, and throws what it threw.
  void resume(std::size_t fiber);
  /// Called in a fiber: back to whoever resumed it.
  void suspend();
  bool ended(std::size_t fiber) const { return fibers_[fiber].ended; }

 private:
  static void enter(unsigned high, unsigned low);
  void run_current();
  void begin(std::size_t fiber);
  char* stack_of(std::size_t fiber) const { return stacks_ + fiber * kSpacing; }

  // A stack and a page that must not be touched. Only touched pages cost memory.
  static constexpr std::size_t kStackBytes = std::size_t{128} * 1024;
  static constexpr std::size_t kGuardBytes = std::size_t{64} * 1024;  // a page on every machine
  static constexpr std::size_t kSpacing = kStackBytes + kGuardBytes;

  struct Fiber {
    ucontext_t context{};
    bool begun = false;
    bool ended = false;
  };
  Program program_;
  std::vector<Fiber> fibers_;
  char* stacks_ = nullptr;
  ucontext_t caller_{};
  std::size_t current_ = 0;
  std::exception_ptr failure_;
};

}  // namespace wireproof
