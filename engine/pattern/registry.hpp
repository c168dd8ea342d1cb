// Selects the loop that runs a point of pairs. A new loop needs its header here and a row in
// plan/patterns.def.
#pragma once

#include <concepts>
#include <memory>

#include "base/failure.hpp"
#include "pattern/atomic.hpp"
#include "pattern/osu_and_imb.hpp"
#include "pattern/pattern_runner.hpp"
#include "pattern/prepared.hpp"
#include "pattern/threads.hpp"

namespace wireproof {

/// The form in which a loop returns the times of its batches: stamps at their edges, or sums of
/// differences.
enum class Edges { stamps, sums };

/// A link that differs from its base, L::MessageLink, only in remote access: it uses the base's
/// loops over messages.
template <class L>
concept InheritsMessages = std::derived_from<L, typename L::MessageLink>;

template <class L>
constexpr bool has_own_loops_of(Pattern pattern) {
  return !InheritsMessages<L> || is_remote(pattern);
}

/// The loop that plan/patterns.def lists for the point. Throws Failure if the link does not support
/// the pattern (plans are checked before, so that would be a defect of wireproof).
template <Link L, class C>
// One branch per row: NOLINTNEXTLINE(readability-function-size)
std::unique_ptr<Runner> make_runner(L& link, C clock, EndMemory& memory, const PointShape& shape) {
  if constexpr (InheritsMessages<L>) {
    if (!is_remote(shape.pattern)) {
      return make_runner<typename L::MessageLink>(link, clock, memory, shape);
    }
  }
  const auto is = [&](Pattern pattern, Form form, Formula formula) {
    return shape.pattern == pattern && shape.form == form && shape.formula == formula;
  };
// Types and enumerators need no parentheses: NOLINTBEGIN(bugprone-macro-parentheses)
// clang-format off
#define WIREPROOF_PAIR_LOOP(name, form, formula, Needs, BoundRunner, Loops, edges)            \
  if constexpr (Needs<L> && has_own_loops_of<L>(Pattern::name)) {                             \
    if (is(Pattern::name, Form::form, Formula::formula)) {                                    \
      const auto& loops = kPairLoops<L, C, Loops, Edges::edges == Edges::sums>;               \
      return std::make_unique<BoundRunner<L, C>>(loops, link, clock, memory, shape);          \
    }                                                                                         \
  }
// clang-format on
#include "plan/patterns.def"
  // NOLINTEND(bugprone-macro-parentheses)
  throw cannot_measure("no-pattern", "this transport has no " +
                                         std::string(name_of(shape.pattern)) + " by formula " +
                                         std::string(name_of(shape.formula)));
}

}  // namespace wireproof
