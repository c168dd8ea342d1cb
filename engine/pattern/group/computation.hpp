// A computation of a given length without calls, to be overlapped with a collective.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace wireproof {

/// A link for which a computation is a jump of its clock (model).
template <class L>
concept PassesTime = requires(L& link, double ns) {
  link.pass_virtual_time(ns);
};

struct Computation {
  std::uint64_t turns = 0;
  double ns = 0;
};

/// Each turn needs the result of the previous one, and the compiler must assume that the result is
/// used.
[[gnu::always_inline]] inline void spend(std::uint64_t turns) {
  std::uint64_t x = turns;
  for (std::uint64_t i = 0; i < turns; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(x));
  }
}

template <class L>
[[gnu::always_inline]] inline void compute(L& link, const Computation& work) {
  if constexpr (PassesTime<L>) {
    link.pass_virtual_time(work.ns);
  } else {
    spend(work.turns);
  }
}

/// The computation that lasts `ns` on this core: the shortest of a few timings of many turns gives
/// the cost of a turn, because disturbances only lengthen them.
template <class C>
Computation calibrated(C clock, double ns_per_tick, double ns) {
  constexpr std::uint64_t kTurns = 20'000;
  constexpr int kTimings = 9;
  double shortest_ns = 1e300;
  for (int i = 0; i < kTimings; ++i) {
    const Ticks start = clock.now();
    spend(kTurns);
    shortest_ns = std::min(shortest_ns, static_cast<double>(clock.now() - start) * ns_per_tick);
  }
  const double per_turn = std::max(shortest_ns / static_cast<double>(kTurns), 1e-3);
  return {static_cast<std::uint64_t>(std::max(1.0, ns / per_turn + 0.5)), ns};
}

}  // namespace wireproof
