#include "base/fiber_set.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/failure.hpp"

namespace wireproof {

FiberSet::FiberSet(std::size_t count, Program program)
    : program_(std::move(program)), fibers_(count) {
  // All of it is a guard page at first; begin() makes a stack accessible.
  void* const memory = mmap(nullptr, count * kSpacing, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    throw cannot_measure("no-memory", "no memory for " + std::to_string(count) +
                                          " simulated members; name fewer in members=");
  }
  stacks_ = static_cast<char*>(memory);
}

FiberSet::~FiberSet() { munmap(stacks_, fibers_.size() * kSpacing); }

void FiberSet::enter(unsigned high, unsigned low) {
  const auto address = (static_cast<std::uintptr_t>(high) << 32) | low;
  reinterpret_cast<FiberSet*>(address)->run_current();
}

void FiberSet::run_current() {
  try {
    program_(current_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  fibers_[current_].ended = true;
  setcontext(&caller_);
}

void FiberSet::begin(std::size_t number) {
  Fiber& fiber = fibers_[number];
  char* const stack = stack_of(number) + kGuardBytes;
  if (mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE) != 0) {
    throw cannot_measure("no-memory", "no memory for simulated member " + std::to_string(number) +
                                          "; name fewer in members=");
  }
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack;
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  // makecontext passes only ints (POSIX), so the pointer is passed in two halves.
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(&FiberSet::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  fiber.begun = true;
}

void FiberSet::resume(std::size_t fiber) {
  if (!fibers_[fiber].begun) begin(fiber);
  current_ = fiber;
  swapcontext(&caller_, &fibers_[fiber].context);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void FiberSet::suspend() { swapcontext(&fibers_[current_].context, &caller_); }

}  // namespace wireproof
