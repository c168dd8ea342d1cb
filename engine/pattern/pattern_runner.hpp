// One pattern's loops as a Runner.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "pattern/end_memory.hpp"
#include "pattern/payload.hpp"
#include "pattern/runner.hpp"
#include "pattern/shape.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// The functions of a pattern's loops that a runner calls. A table, so that a single class of
/// runner serves all loops of a link and a clock; otherwise the code around the loops would be
/// compiled for each.
template <Link L, class C>
struct PairLoops {
  Layout (*layout)(const PointShape&);
  void (*admit)(L&) = nullptr;  ///< null: no point can be refused
  /// Requests or words that a pattern needs before its first timed run, created where the role is
  /// known; null if there are none.
  void (*prepare)(L&, const Buffers&, const PointShape&, bool originates) = nullptr;
  void (*release)(L&, const PointShape&) = nullptr;
  void (*originate)(L&, C, const Buffers&, const PointShape&, const Segment&, Ticks*);
  Ticks (*answer)(L&, C, const Buffers&, const PointShape&, const Segment&);
  bool (*verify_origin)(L&, const Buffers&, const PointShape&, std::uint64_t seed);
  bool (*verify_target)(L&, const Buffers&, const PointShape&, std::uint64_t seed);
  int verified_forward;
  int verified_backward;
  bool sums;  ///< the loops compute differences themselves (sums instead of edges)
};

template <Link L, class C, class P, bool kSums>
constexpr PairLoops<L, C> make_pair_loops() {
  using Verify = typename P::Verify;
  PairLoops<L, C> loops{.layout = P::layout,
                        .originate = P::originate,
                        .answer = P::answer,
                        .verify_origin = Verify::origin,
                        .verify_target = Verify::target,
                        .verified_forward = Verify::kForward,
                        .verified_backward = Verify::kBackward,
                        .sums = kSums};
  if constexpr (requires(L & link) { P::admit(link); }) loops.admit = P::admit;
  if constexpr (requires(L & link, const Buffers& b, const PointShape& s) {
                  P::prepare(link, b, s, true);
                  P::release(link, s);
                }) {
    loops.prepare = P::prepare;
    loops.release = P::release;
  }
  return loops;
}

template <Link L, class C, template <class, class> class Loops, bool kSums>
inline constexpr PairLoops<L, C> kPairLoops = make_pair_loops<L, C, Loops<L, C>, kSums>();

/// Loops bound to a link, a clock and memory.
template <Link L, class C>
class PatternRunner final : public Runner {
 public:
  PatternRunner(const PairLoops<L, C>& loops, L& link, C clock, EndMemory& memory,
                const PointShape& shape)
      : loops_(loops), link_(link), clock_(clock), shape_(shape), layout_(loops.layout(shape)) {
    if (loops_.admit != nullptr) loops_.admit(link);
    buffers_.stride = (shape.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    buffers_.source = memory.source.reserve(buffers_.stride);
    buffers_.sink = memory.sink.reserve(buffers_.stride * extent(layout_.sink_messages));
    fill_payload({buffers_.source, shape.bytes}, shape.bytes);
    fill_payload({buffers_.sink, buffers_.stride * extent(layout_.sink_messages)}, shape.bytes);
    lent_.emplace(link_, std::span(buffers_.source, buffers_.stride),
                  std::span(buffers_.sink, buffers_.stride * extent(layout_.sink_messages)));
    link_.reserve(layout_.slots);
    if (layout_.window_messages > 0) {
      const std::size_t bytes = buffers_.stride * extent(layout_.window_messages);
      expose(std::max(bytes, kCacheLine));
    }
  }
  ~PatternRunner() override {
    if (prepared_) loops_.release(link_, shape_);
    if (layout_.window_messages > 0) link_.conceal();
  }
  PatternRunner(const PatternRunner&) = delete;
  PatternRunner& operator=(const PatternRunner&) = delete;

  int granule() const override { return layout_.granule; }
  bool pipelined() const override { return layout_.pipelined; }

  void originate(const Segment& segment, std::span<Ticks> batch_ticks) override {
    prepare(true);
    loops_.originate(link_, clock_, buffers_, shape_, segment, batch_ticks.data());
    if (!loops_.sums) take_differences(batch_ticks, segment.batches);
  }
  Ticks answer(const Segment& segment) override {
    prepare(false);
    return loops_.answer(link_, clock_, buffers_, shape_, segment);
  }
  bool verify_origin(std::uint64_t seed) override {
    prepare(true);
    return loops_.verify_origin(link_, buffers_, shape_, seed);
  }
  bool verify_target(std::uint64_t seed) override {
    prepare(false);
    return loops_.verify_target(link_, buffers_, shape_, seed);
  }
  int verified_forward() const override { return loops_.verified_forward; }
  int verified_backward() const override { return loops_.verified_backward; }

 private:
  void prepare(bool originates) {
    if (prepared_ || loops_.prepare == nullptr) return;
    loops_.prepare(link_, buffers_, shape_, originates);
    prepared_ = true;
  }

  void expose(std::size_t bytes) {
    buffers_.window = link_.expose(shape_.window_kind, bytes);
    if (!layout_.window_is_zero) return;
    std::memset(buffers_.window, 0, bytes);
    link_.synchronise_window();
  }

  static std::size_t extent(int messages) { return static_cast<std::size_t>(messages); }

  const PairLoops<L, C>& loops_;
  L& link_;
  C clock_;
  PointShape shape_;
  Layout layout_;
  Buffers buffers_;
  std::optional<LentMemory<L>> lent_;  // until the window is concealed
  bool prepared_ = false;
};

}  // namespace wireproof
