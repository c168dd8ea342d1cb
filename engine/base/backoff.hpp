// Waiting outside of timed regions: spin a little, then sleep between polls, so that an idle rank
// leaves its core to a rank that is being timed.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace wireproof {

class Backoff {
 public:
  /// Polls without sleeping for `spin_ns`, then sleeps 20 us, doubling up to `longest_ns`.
  explicit Backoff(std::int64_t spin_ns = 50'000, long longest_ns = 500'000)
      : end_of_spin_ns_(monotonic_ns() + spin_ns), longest_ns_(longest_ns) {}

  /// Call between two unsuccessful polls.
  void pause() noexcept {
    if (sleep_ns_ == 0 && monotonic_ns() < end_of_spin_ns_) {
      sched_yield();
      return;
    }
    sleep_ns_ = std::min(std::max(2 * sleep_ns_, 20'000L), longest_ns_);
    const timespec t{0, sleep_ns_};
    nanosleep(&t, nullptr);
  }

 private:
  std::int64_t end_of_spin_ns_;
  long longest_ns_;
  long sleep_ns_ = 0;
};

}  // namespace wireproof
