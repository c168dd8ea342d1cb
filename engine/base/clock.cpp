#include "base/clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "base/bounded_file.hpp"
#include "base/text_split.hpp"

namespace wireproof {
namespace {

#if defined(__x86_64__)
constexpr std::size_t kCpuinfoBytes = 8192;

/// The kernel's choice comes first: it stops using the time-stamp counter if the counter drifts
/// between sockets.
bool counter_is_usable() {
  const std::string name =
      read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!name.empty() && name != "tsc") return false;
  // The first processor's flags are in the first few kilobytes.
  const FileText cpuinfo = read_bounded("/proc/cpuinfo", kCpuinfoBytes);
  std::string_view left = cpuinfo.text;
  while (const auto line = take_line(left)) {
    if (!line->starts_with("flags")) continue;
    return line->find(" constant_tsc") != std::string_view::npos &&
           line->find(" nonstop_tsc") != std::string_view::npos;
  }
  return false;
}
constexpr ClockSource kCounter = ClockSource::tsc;
#elif defined(__aarch64__)
// guaranteed by the architecture: constant rate, never stops
bool counter_is_usable() { return true; }
constexpr ClockSource kCounter = ClockSource::cntvct;
#else
bool counter_is_usable() { return false; }
constexpr ClockSource kCounter = ClockSource::monotonic;
#endif

ClockSource choose_source() {
  const char* forced = std::getenv("WIREPROOF_CLOCK");
  if (forced != nullptr && std::strcmp(forced, "monotonic") == 0) return ClockSource::monotonic;
  return counter_is_usable() ? kCounter : ClockSource::monotonic;
}

constexpr std::int64_t kFirstFitNs =
    10'000'000;  // 10 ms: anchors are accurate to ~50 ns, so the error is at most 5e-6

}  // namespace

std::string_view name_of(ClockSource source) noexcept {
  switch (source) {
    case ClockSource::tsc:
      return "tsc";
    case ClockSource::cntvct:
      return "cntvct";
    case ClockSource::monotonic:
      return "monotonic";
    case ClockSource::virtual_time:
      return "virtual";
  }
  return "monotonic";
}

HostClock::HostClock() : anchor_(take_anchor()) {
  facts_.source = choose_source();
  while (monotonic_ns() - anchor_.wall_ns < kFirstFitNs) {
  }
  refit();
  measure_cost();
}

/// Reads the counter between two nearly equal readings of the wall clock; the tightest of a few
/// tries counts.
HostClock::Anchor HostClock::take_anchor() noexcept {
  Anchor best;
  Ticks tightest = std::numeric_limits<Ticks>::max();
  for (int i = 0; i < 16; ++i) {
    const Ticks before = CounterClock::now();
    const std::int64_t wall_ns = monotonic_ns();
    const Ticks after = CounterClock::now();
    if (after - before >= tightest) continue;
    tightest = after - before;
    best = {before + (after - before) / 2, wall_ns};
  }
  return best;
}

void HostClock::refit() noexcept {
  if (!counter()) return;
  const Anchor end = take_anchor();
  if (end.counter <= anchor_.counter) return;
  facts_.ns_per_tick = static_cast<double>(end.wall_ns - anchor_.wall_ns) /
                       static_cast<double>(end.counter - anchor_.counter);
}

/// Quantum: the smallest non-zero step; read cost: mean of back-to-back readings, best of several
/// rounds.
void HostClock::measure_cost() noexcept {
  constexpr int kReads = 2000;
  Ticks quantum = std::numeric_limits<Ticks>::max();
  Ticks cheapest = std::numeric_limits<Ticks>::max();
  for (int round = 0; round < 5; ++round) {
    const Ticks start = now();
    Ticks previous = start;
    for (int i = 0; i < kReads; ++i) {
      const Ticks current = now();
      if (current > previous) quantum = std::min(quantum, current - previous);
      previous = current;
    }
    cheapest = std::min(cheapest, previous - start);
  }
  facts_.quantum_ns = to_ns(quantum);
  facts_.read_cost_ns = to_ns(cheapest) / kReads;
}

}  // namespace wireproof
