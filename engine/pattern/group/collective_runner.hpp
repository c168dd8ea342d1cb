// A collective bound to a link, a clock and memory.
#pragma once

#include <memory>
#include <span>

#include "pattern/end_memory.hpp"
#include "pattern/group/collective.hpp"
#include "pattern/group/collective_loops.hpp"
#include "pattern/group/end.hpp"

namespace wireproof {

template <CollectiveLink L, class C, class Call>
class CollectivePatternRunner final : public GroupRunner {
 public:
  CollectivePatternRunner(L& link, C clock, EndMemory& memory, const GroupShape& shape)
      : link_(link), clock_(clock), shape_(shape) {
    const Blocks blocks = Call::blocks(shape.members);
    buffers_ = {
        .source = memory.source.reserve(shape.bytes * static_cast<std::size_t>(blocks.source)),
        .sink = memory.sink.reserve(shape.bytes * static_cast<std::size_t>(blocks.sink)),
        .stride = shape.bytes};
    Call::fill(buffers_, shape_, shape.bytes);
    layout_.messages = static_cast<std::uint64_t>(shape.members);
    layout_.exact = false;
    link_.reserve(1);
  }

  const GroupLayout& layout() const override { return layout_; }
  Traffic traffic(int member) const override { return Call::traffic(shape_, member); }
  void turn_to(int, int) override {}

  bool verify(std::uint64_t seed) override {
    Call::fill(buffers_, shape_, seed);
    link_.barrier();
    if (shape_.blocking) {
      Call::call(link_, buffers_, shape_);
    } else {
      Call::start(link_, buffers_, shape_);
      link_.finish(0);
    }
    const bool right = Call::is_right(buffers_, shape_, seed);
    Call::fill(buffers_, shape_, shape_.bytes);
    return right;
  }

  void enter(Phase phase, double compute_ns, double ns_per_tick) override {
    phase_ = phase;
    if (phase != Phase::computing) return;  // the next one has the same
    if constexpr (PassesTime<L>) {
      static_cast<void>(ns_per_tick);
      work_.ns = compute_ns;
    } else {
      work_ = calibrated(clock_, ns_per_tick, compute_ns);
    }
  }

  Ticks run(const Segment& segment, std::span<Ticks> ticks) override {
    if (shape_.blocking) return run_blocking(segment, ticks);
    if (phase_ == Phase::computing) return paced<ComputingStep>(segment, ticks);
    if (phase_ == Phase::overlapped) return paced<OverlappedStep<Call>>(segment, ticks);
    return paced<StartedStep<Call>>(segment, ticks);
  }

 private:
  /// OSU reads the clock around every call, with a barrier between two calls (none between two
  /// barriers); so does IMB-MPI1, except for its barriers, which it times together.
  Ticks run_blocking(const Segment& segment, std::span<Ticks> ticks) {
    using Step = BlockingStep<Call>;
    if (shape_.formula == Formula::robust) return paced<Step>(segment, ticks);
    if (shape_.pattern != Pattern::barrier)
      return time<EachTimed<L, C, Step, true>>(segment, ticks);
    if (shape_.formula == Formula::osu) return time<EachTimed<L, C, Step, false>>(segment, ticks);
    return time<OneAfterAnother<L, C, Step>>(segment, ticks);
  }

  template <class Step>
  Ticks paced(const Segment& segment, std::span<Ticks> ticks) {
    if constexpr (Call::kPaced) {
      return time<OneAfterAnother<L, C, Step>>(segment, ticks);
    } else {
      return time<EachTimed<L, C, Step, true>>(segment, ticks);
    }
  }

  template <class Loop>
  Ticks time(const Segment& segment, std::span<Ticks> ticks) {
    const Ticks elapsed = Loop::run(link_, clock_, buffers_, shape_, segment, work_, ticks.data());
    if constexpr (!Loop::kSums) take_differences(ticks, segment.batches);
    return elapsed;
  }

  L& link_;
  C clock_;
  GroupShape shape_;
  GroupLayout layout_;
  Buffers buffers_;
  Phase phase_ = Phase::plain;
  Computation work_;
};

}  // namespace wireproof
