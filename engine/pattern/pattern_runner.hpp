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

/// `Loops` bound to a link, a clock and memory. `kSums`: the loops take differences themselves
/// (sums instead of edges).
template <Link L, class C, template <class, class> class Loops, bool kSums>
class PatternRunner final : public Runner {
 public:
  using P = Loops<L, C>;

  PatternRunner(L& link, C clock, EndMemory& memory, const PointShape& shape)
      : link_(link), clock_(clock), shape_(shape), layout_(P::layout(shape)) {
    if constexpr (requires { P::admit(link); }) P::admit(link);
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
    if constexpr (kPrepares) {
      if (prepared_) P::release(link_, shape_);
    }
    if (layout_.window_messages > 0) link_.conceal();
  }
  PatternRunner(const PatternRunner&) = delete;
  PatternRunner& operator=(const PatternRunner&) = delete;

  int granule() const override { return layout_.granule; }
  bool pipelined() const override { return layout_.pipelined; }

  void originate(const Segment& segment, std::span<Ticks> batch_ticks) override {
    prepare(true);
    P::originate(link_, clock_, buffers_, shape_, segment, batch_ticks.data());
    if constexpr (!kSums) {
      for (std::size_t i = 0; i < segment.batches; ++i) {
        batch_ticks[i] = batch_ticks[i + 1] - batch_ticks[i];
      }
    }
  }
  Ticks answer(const Segment& segment) override {
    prepare(false);
    return P::answer(link_, clock_, buffers_, shape_, segment);
  }
  bool verify_origin(std::uint64_t seed) override {
    prepare(true);
    return P::Verify::origin(link_, buffers_, shape_, seed);
  }
  bool verify_target(std::uint64_t seed) override {
    prepare(false);
    return P::Verify::target(link_, buffers_, shape_, seed);
  }
  int verified_forward() const override { return P::Verify::kForward; }
  int verified_backward() const override { return P::Verify::kBackward; }

 private:
  /// Requests or words that a pattern needs before its first timed run, made where the role is
  /// known.
  static constexpr bool kPrepares = requires(L & link, const Buffers& b, const PointShape& s) {
    P::prepare(link, b, s, true);
    P::release(link, s);
  };
  void prepare(bool originates) {
    if constexpr (kPrepares) {
      if (!prepared_) P::prepare(link_, buffers_, shape_, originates);
      prepared_ = true;
    }
  }

  void expose(std::size_t bytes) {
    buffers_.window = link_.expose(shape_.window_kind, bytes);
    if (!layout_.window_is_zero) return;
    std::memset(buffers_.window, 0, bytes);
    link_.synchronise_window();
  }

  static std::size_t extent(int messages) { return static_cast<std::size_t>(messages); }

  L& link_;
  C clock_;
  PointShape shape_;
  Layout layout_;
  Buffers buffers_;
  std::optional<LentMemory<L>> lent_;  // until the window is concealed
  bool prepared_ = false;
};

}  // namespace wireproof
