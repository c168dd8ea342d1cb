// Selects the loop that runs a group point. A new loop needs its header here and a row in
// plan/patterns.def.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/failure.hpp"
#include "pattern/group/all_to_all.hpp"
#include "pattern/group/collective_runner.hpp"
#include "pattern/group/congestion.hpp"
#include "pattern/group/end.hpp"
#include "pattern/group/incast.hpp"
#include "pattern/group/message_rate.hpp"
#include "pattern/group/ring.hpp"
#include "pattern/registry.hpp"

namespace wireproof {

/// The functions of a group pattern's loops that a runner calls (like PairLoops).
template <GroupLink L, class C>
struct GroupLoops {
  GroupLayout (*layout)(const GroupShape&);
  Traffic (*traffic)(const GroupShape&, int member);
  Ticks (*run)(L&, C, const Buffers&, const GroupShape&, const Segment&, Ticks*);
  bool (*verify)(L&, const Buffers&, const GroupShape&, std::uint64_t seed);
  bool sums;  ///< the loops compute differences themselves
};

template <GroupLink L, class C, template <class, class> class Loops, bool kSums>
inline constexpr GroupLoops<L, C> kGroupLoops{.layout = Loops<L, C>::layout,
                                              .traffic = Loops<L, C>::traffic,
                                              .run = Loops<L, C>::run,
                                              .verify = Loops<L, C>::Verify::run,
                                              .sums = kSums};

/// Loops bound to a link, a clock and memory.
template <GroupLink L, class C>
class GroupPatternRunner final : public GroupRunner {
 public:
  GroupPatternRunner(const GroupLoops<L, C>& loops, L& link, C clock, EndMemory& memory,
                     const GroupShape& shape)
      : loops_(loops), link_(link), clock_(clock), shape_(shape), layout_(loops.layout(shape)) {
    const std::size_t stride = (shape.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    const std::size_t sinks = stride * static_cast<std::size_t>(layout_.sink_messages);
    buffers_ = {.source = memory.source.reserve(stride),
                .sink = memory.sink.reserve(sinks),
                .stride = stride};
    fill_payload({buffers_.source, shape.bytes}, shape.bytes);
    fill_payload({buffers_.sink, sinks}, shape.bytes);
    lent_.emplace(link_, std::span(buffers_.source, stride), std::span(buffers_.sink, sinks));
    link_.reserve(layout_.slots);
  }

  const GroupLayout& layout() const override { return layout_; }
  Traffic traffic(int member) const override { return loops_.traffic(shape_, member); }

  Ticks run(const Segment& segment, std::span<Ticks> batch_ticks) override {
    const Ticks elapsed = loops_.run(link_, clock_, buffers_, shape_, segment, batch_ticks.data());
    if (!loops_.sums) take_differences(batch_ticks, segment.batches);
    return elapsed;
  }
  bool verify(std::uint64_t seed) override { return loops_.verify(link_, buffers_, shape_, seed); }
  void turn_to(int left, int right) override {
    shape_.left = left;
    shape_.right = right;
  }

 private:
  const GroupLoops<L, C>& loops_;
  L& link_;
  C clock_;
  GroupShape shape_;
  GroupLayout layout_;
  Buffers buffers_;
  std::optional<LentMemory<L>> lent_;
};

/// The loop that plan/patterns.def lists for the point. Throws Failure if there is none (plans are
/// checked before, so that would be a defect of wireproof).
template <GroupLink L, class C>
// One branch per row: NOLINTNEXTLINE(readability-function-size)
std::unique_ptr<GroupRunner> make_group_runner(L& link, C clock, EndMemory& memory,
                                               const GroupShape& shape) {
  const auto is = [&](Pattern pattern, Formula formula) {
    return shape.pattern == pattern && shape.formula == formula;
  };
// Types and enumerators need no parentheses: NOLINTBEGIN(bugprone-macro-parentheses)
// clang-format off
#define WIREPROOF_GROUP_LOOP(name, form, formula, Loops, edges)                               \
  if (is(Pattern::name, Formula::formula)) {                                                  \
    const auto& loops = kGroupLoops<L, C, Loops, Edges::edges == Edges::sums>;                \
    return std::make_unique<GroupPatternRunner<L, C>>(loops, link, clock, memory, shape);     \
  }
#define WIREPROOF_GROUP_RUNNER(name, form, formula, BoundRunner)                              \
  if (is(Pattern::name, Formula::formula)) {                                                  \
    return std::make_unique<BoundRunner<L, C>>(link, clock, memory, shape);                   \
  }
#define WIREPROOF_COLLECTIVE(name, Call)                                                        \
  if constexpr (CollectiveLink<L>) {                                                            \
    if (shape.pattern == Pattern::name) {                                                       \
      return std::make_unique<CollectivePatternRunner<L, C, Call>>(link, clock, memory, shape); \
    }                                                                                           \
  }
// clang-format on
#include "plan/patterns.def"
  // NOLINTEND(bugprone-macro-parentheses)
  throw cannot_measure("no-pattern", "no group pattern " + std::string(name_of(shape.pattern)) +
                                         " by formula " + std::string(name_of(shape.formula)));
}

/// The requirements of a non-collective point's loop, before there is a link. `C` is any clock.
template <GroupLink L, class C>
GroupLayout group_layout_of(const GroupShape& shape) {
  const auto is = [&](Pattern pattern, Formula formula) {
    return shape.pattern == pattern && shape.formula == formula;
  };
// Types and enumerators need no parentheses: NOLINTBEGIN(bugprone-macro-parentheses)
// clang-format off
#define WIREPROOF_GROUP_LOOP(name, form, formula, Loops, edges) \
  if (is(Pattern::name, Formula::formula)) return Loops<L, C>::layout(shape);
#define WIREPROOF_GROUP_RUNNER(name, form, formula, BoundRunner) \
  if (is(Pattern::name, Formula::formula)) return BoundRunner<L, C>::layout_of(shape);
// clang-format on
#include "plan/patterns.def"
  // NOLINTEND(bugprone-macro-parentheses)
  return {};
}

}  // namespace wireproof
