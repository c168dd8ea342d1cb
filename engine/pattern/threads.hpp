// threads: every thread of a rank runs the same loop with its counterpart of the other rank, each
// pair of threads over a separate link (MPI: a separate communicator, MPI_THREAD_MULTIPLE).
//
// For each batch, the threads' readings of one clock are combined into one number:
// * latency: the mean over the threads of their elapsed times; operations count per thread.
// * stream: the time from when the last thread had begun the batch to when the last one had ended
// it; operations count over all threads. Without a lead-in nothing is in flight before, so the
// first batch begins when the first thread does. A link whose threads take turns (null, model) adds
// up their times in a stream instead.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "pattern/end_memory.hpp"
#include "pattern/pattern_runner.hpp"
#include "pattern/payload.hpp"
#include "pattern/runner.hpp"
#include "pattern/shape.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// Members take turns, for links in one process.
class TakingTurns {
 public:
  explicit TakingTurns(int size) : size_(size) {}
  void run(const std::function<void(int)>& work) const {
    for (int member = 0; member < size_; ++member) work(member);
  }

 private:
  int size_;
};

/// `readings[t]` of thread t: batches + 1 edges, or (kSums) a sum for each batch. Result: ticks per
/// batch.
struct JointTime {
  bool sums = false;
  bool stream = false;
  bool in_turn = false;
  bool from_empty = false;  ///< nothing is in flight at the first edge

  void combine(const std::vector<std::vector<Ticks>>& readings, std::span<Ticks> ticks) const {
    for (std::size_t i = 0; i < ticks.size(); ++i) ticks[i] = batch(readings, i);
  }

 private:
  Ticks batch(const std::vector<std::vector<Ticks>>& readings, std::size_t i) const {
    if (stream && !in_turn && !sums) {
      const bool at_first = from_empty && i == 0;
      return last(readings, i + 1) - (at_first ? earliest(readings) : last(readings, i));
    }
    Ticks total = 0;
    for (const auto& own : readings) total += sums ? own[i] : own[i + 1] - own[i];
    return stream ? total : total / static_cast<Ticks>(readings.size());
  }
  static Ticks earliest(const std::vector<std::vector<Ticks>>& readings) {
    Ticks first = readings.front().front();
    for (const auto& own : readings) first = std::min(first, own.front());
    return first;
  }
  static Ticks last(const std::vector<std::vector<Ticks>>& readings, std::size_t edge) {
    Ticks latest = readings.front()[edge];
    for (const auto& own : readings) latest = std::max(latest, own[edge]);
    return latest;
  }
};

template <ThreadedLink L, class C>
class TeamRunner final : public Runner {
 public:
  using Crew = std::conditional_t<L::kThreadsTakeTurns, TakingTurns, Team>;

  TeamRunner(const PairLoops<L, C>& loops, L& link, C clock, EndMemory& memory,
             const PointShape& shape)
      : loops_(loops),
        link_(link),
        clock_(clock),
        shape_(shape),
        layout_(loops.layout(shape)),
        crew_((link.assemble(shape.threads), shape.threads)),
        readings_(static_cast<std::size_t>(shape.threads)) {
    const auto count = static_cast<std::size_t>(shape.threads);
    const std::size_t stride = (shape.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    const std::size_t each = stride * static_cast<std::size_t>(layout_.sink_messages);
    std::byte* const source = memory.source.reserve(stride * count);
    std::byte* const sink = memory.sink.reserve(each * count);
    fill_payload({source, stride * count}, shape.bytes);
    fill_payload({sink, each * count}, shape.bytes);
    for (std::size_t t = 0; t < count; ++t) {
      buffers_.push_back({source + t * stride, sink + t * each, nullptr, stride});
      member(static_cast<int>(t)).reserve(layout_.slots);
    }
  }

  int granule() const override { return layout_.granule * (streams() ? shape_.threads : 1); }
  int messages_per_operation() const override { return streams() ? 1 : shape_.threads; }
  bool pipelined() const override { return layout_.pipelined; }

  void originate(const Segment& segment, std::span<Ticks> batch_ticks) override {
    for (auto& own : readings_) own.resize(std::max(own.size(), segment.batches + std::size_t{1}));
    crew_.run([&](int t) {
      const auto at = static_cast<std::size_t>(t);
      loops_.originate(member(t), clock_, buffers_[at], shape_, segment, readings_[at].data());
    });
    JointTime{.sums = loops_.sums,
              .stream = streams(),
              .in_turn = L::kThreadsTakeTurns,
              .from_empty = layout_.pipelined && segment.lead_in == 0}
        .combine(readings_, batch_ticks.first(segment.batches));
  }

  Ticks answer(const Segment& segment) override {
    std::vector<Ticks> own(buffers_.size());
    crew_.run([&](int t) {
      const auto at = static_cast<std::size_t>(t);
      own[at] = loops_.answer(member(t), clock_, buffers_[at], shape_, segment);
    });
    Ticks total = 0;
    for (const Ticks ticks : own) total += ticks;
    if (streams() && L::kThreadsTakeTurns) return total;
    if (streams()) return *std::max_element(own.begin(), own.end());
    return total / static_cast<Ticks>(own.size());
  }

  /// Executed by the caller's thread alone, over every thread's link.
  bool verify_origin(std::uint64_t seed) override {
    bool good = true;
    for (int t = 0; t < shape_.threads; ++t) {
      good &= loops_.verify_origin(member(t), buffers_[static_cast<std::size_t>(t)], shape_,
                                   seed + static_cast<std::uint64_t>(t));
    }
    return good;
  }
  bool verify_target(std::uint64_t seed) override {
    bool good = true;
    for (int t = 0; t < shape_.threads; ++t) {
      good &= loops_.verify_target(member(t), buffers_[static_cast<std::size_t>(t)], shape_,
                                   seed + static_cast<std::uint64_t>(t));
    }
    return good;
  }
  int verified_forward() const override { return loops_.verified_forward * shape_.threads; }
  int verified_backward() const override { return loops_.verified_backward * shape_.threads; }

 private:
  L& member(int t) { return link_.member(t); }
  bool streams() const { return shape_.form == Form::stream; }

  const PairLoops<L, C>& loops_;
  L& link_;
  C clock_;
  PointShape shape_;
  Layout layout_;
  Crew crew_;
  std::vector<Buffers> buffers_;
  std::vector<std::vector<Ticks>> readings_;
};

}  // namespace wireproof
