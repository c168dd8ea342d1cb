#include "base/fiber.hpp"

#include <cstdint>

#include "base/failure.hpp"

namespace wireproof {

TurnTaking::TurnTaking() : stack_(new char[kStackBytes]) {}

void TurnTaking::enter(unsigned high, unsigned low) {
  const auto address = (static_cast<std::uintptr_t>(high) << 32) | low;
  reinterpret_cast<TurnTaking*>(address)->run_second();
}

void TurnTaking::run_second() {
  try {
    (*program_)();
  } catch (...) {
    failure_ = std::current_exception();
  }
  second_ended_ = true;
  in_second_ = false;
  setcontext(&first_);
}

void TurnTaking::run(const std::function<void()>& first, const std::function<void()>& second) {
  program_ = &second;
  failure_ = nullptr;
  first_ended_ = false;
  second_ended_ = false;
  getcontext(&second_);
  second_.uc_stack.ss_sp = stack_.get();
  second_.uc_stack.ss_size = kStackBytes;
  second_.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  // makecontext passes only ints (POSIX), so the pointer is passed in two halves.
  makecontext(&second_, reinterpret_cast<void (*)()>(&TurnTaking::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  first();
  first_ended_ = true;
  if (!second_ended_) {
    in_second_ = true;
    swapcontext(&first_, &second_);
  }
  if (failure_) std::rethrow_exception(failure_);
}

void TurnTaking::give_turn() {
  const bool gone = in_second_ ? first_ended_ : second_ended_;
  if (gone) {
    if (failure_) std::rethrow_exception(failure_);
    throw cannot_measure("peer-gone", "one end of a pair waits for the other, which has ended");
  }
  in_second_ = !in_second_;
  if (in_second_) {
    swapcontext(&first_, &second_);
  } else {
    swapcontext(&second_, &first_);
  }
  if (!in_second_ && failure_) std::rethrow_exception(failure_);
}

}  // namespace wireproof
