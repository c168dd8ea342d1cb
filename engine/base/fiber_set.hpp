// Many programs in one thread, each with a small separate stack, so that one process can simulate
// all members of a group. The caller decides which program runs next, so a simulated world is the
// same in every run.
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

  /// Every fiber will run `program(its number)`. Throws Failure if there is no memory for the
  /// stacks. Fibers that have not ended are abandoned when the set is destroyed.
  FiberSet(std::size_t count, Program program);
  ~FiberSet();
  FiberSet(const FiberSet&) = delete;
  FiberSet& operator=(const FiberSet&) = delete;

  /// Begins or continues a fiber; returns when it suspends or ends, and rethrows its exception.
  void resume(std::size_t fiber);
  /// Called in a fiber: returns to the caller of resume().
  void suspend();
  bool ended(std::size_t fiber) const { return fibers_[fiber].ended; }

 private:
  static void enter(unsigned high, unsigned low);
  void run_current();
  void begin(std::size_t fiber);
  char* stack_of(std::size_t fiber) const { return stacks_ + fiber * kSpacing; }

  // A stack and a guard page. Only touched pages cost memory.
  static constexpr std::size_t kStackBytes = std::size_t{128} * 1024;
  // at least a page on every machine
  static constexpr std::size_t kGuardBytes = std::size_t{64} * 1024;
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
