// Clocks: raw ticks at batch edges, and their conversion to nanoseconds.
//
// The counter (time-stamp counter on x86, cntvct_el0 on aarch64) is the cheapest clock that can be
// read without a system call. Its rate is never taken from /proc/cpuinfo: HostClock fits it against
// CLOCK_MONOTONIC over the whole run.
#pragma once

#include <time.h>

#include <cstdint>
#include <string_view>

namespace wireproof {

/// Raw clock reading; the unit depends on the clock source. Convert differences by
/// HostClock::to_ns.
using Ticks = std::uint64_t;

inline std::int64_t read_clock_ns(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// CLOCK_MONOTONIC in nanoseconds.
inline std::int64_t monotonic_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC); }

/// Wall clock, nanoseconds since 1970.
inline std::int64_t unix_ns() noexcept { return read_clock_ns(CLOCK_REALTIME); }

/// The CPU's constant-rate counter.
struct CounterClock {
  static Ticks now() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    Ticks value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return static_cast<Ticks>(monotonic_ns());
#endif
  }
};

/// Fallback if the counter cannot be trusted; one tick is one nanosecond.
struct MonotonicClock {
  static Ticks now() noexcept { return static_cast<Ticks>(monotonic_ns()); }
};

enum class ClockSource { tsc, cntvct, monotonic, virtual_time };

/// Name as written in the `open` frame.
std::string_view name_of(ClockSource source) noexcept;

/// The fields of the `open` frame about the clock.
struct ClockFacts {
  ClockSource source = ClockSource::monotonic;
  double ns_per_tick = 1.0;
  double quantum_ns = 1.0;
  double read_cost_ns = 0.0;
};

/// The host's clock of this process: the source is chosen once, the rate is fitted against
/// CLOCK_MONOTONIC since construction.
class HostClock {
 public:
  /// Chooses the source (the environment WIREPROOF_CLOCK=monotonic forces the fallback), takes the
  /// first anchor of the fit and measures quantum and read cost. Costs about 10 ms.
  HostClock();

  ClockSource source() const noexcept { return facts_.source; }
  bool counter() const noexcept { return facts_.source != ClockSource::monotonic; }
  Ticks now() const noexcept { return counter() ? CounterClock::now() : MonotonicClock::now(); }

  /// Refits the rate over [construction, now]; call it outside of timed regions, before converting
  /// the times of a point.
  void refit() noexcept;

  double ns_per_tick() const noexcept { return facts_.ns_per_tick; }
  double to_ns(Ticks difference) const noexcept {
    return static_cast<double>(difference) * facts_.ns_per_tick;
  }
  const ClockFacts& facts() const noexcept { return facts_; }

 private:
  struct Anchor {
    Ticks counter = 0;
    std::int64_t wall_ns = 0;
  };
  static Anchor take_anchor() noexcept;
  void measure_cost() noexcept;

  ClockFacts facts_;
  Anchor anchor_;
};

}  // namespace wireproof
