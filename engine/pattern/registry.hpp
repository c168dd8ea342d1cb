// Which loop runs a point: one line per pattern, form and formula.
#pragma once

#include <memory>

#include "base/failure.hpp"
#include "pattern/page_buffer.hpp"
#include "pattern/remote.hpp"
#include "pattern/runner.hpp"
#include "pattern/suites.hpp"

namespace wireproof {

/// Memory of one end, kept between points.
struct EndMemory {
  PageBuffer source;
  PageBuffer sink;

  void swap(EndMemory& other) noexcept {
    source.swap(other.source);
    sink.swap(other.sink);
  }
};

constexpr std::size_t kCacheLine = 64;

/// `Loops` bound to a link, a clock and memory. `kWrites`: the loops take differences themselves
/// (sums instead of edges).
template <Link L, class C, template <class, class> class Loops, bool kSums>
class PatternRunner final : public Runner {
 public:
  using P = Loops<L, C>;

  PatternRunner(L& link, C clock, EndMemory& memory, const PointShape& shape)
      : link_(link), clock_(clock), shape_(shape), layout_(P::layout(shape)) {
    buffers_.stride = (shape.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    buffers_.source = memory.source.reserve(buffers_.stride);
    buffers_.sink = memory.sink.reserve(buffers_.stride * extent(layout_.sink_messages));
    fill_payload({buffers_.source, shape.bytes}, shape.bytes);
    fill_payload({buffers_.sink, buffers_.stride * extent(layout_.sink_messages)}, shape.bytes);
    link_.reserve(layout_.slots);
    if (layout_.window_messages > 0) {
      const std::size_t bytes = buffers_.stride * extent(layout_.window_messages);
      buffers_.window = link_.expose(shape.window_kind, std::max(bytes, kCacheLine));
    }
  }
  ~PatternRunner() override {
    if (layout_.window_messages > 0) link_.conceal();
  }
  PatternRunner(const PatternRunner&) = delete;
  PatternRunner& operator=(const PatternRunner&) = delete;

  int granule() const override { return layout_.granule; }
  bool pipelined() const override { return layout_.pipelined; }

  void originate(const Segment& segment, std::span<Ticks> batch_ticks) override {
    P::originate(link_, clock_, buffers_, shape_, segment, batch_ticks.data());
    if constexpr (!kSums) {
      for (std::size_t i = 0; i < segment.batches; ++i) {
        batch_ticks[i] = batch_ticks[i + 1] - batch_ticks[i];
      }
    }
  }
  Ticks answer(const Segment& segment) override {
    return P::answer(link_, clock_, buffers_, shape_, segment);
  }
  bool verify_origin(std::uint64_t seed) override {
    return P::Verify::origin(link_, buffers_, shape_, seed);
  }
  bool verify_target(std::uint64_t seed) override {
    return P::Verify::target(link_, buffers_, shape_, seed);
  }
  int verified_forward() const override { return P::Verify::kForward; }
  int verified_backward() const override { return P::Verify::kBackward; }

 private:
  static std::size_t extent(int messages) { return static_cast<std::size_t>(messages); }

  L& link_;
  C clock_;
  PointShape shape_;
  Layout layout_;
  Buffers buffers_;
};

template <Link L, class C>
struct RunnerEntry {
  Pattern pattern;
  Form form;
  Formula formula;
  std::unique_ptr<Runner> (*make)(L&, C, EndMemory&, const PointShape&);
};

template <Link L, class C, template <class, class> class Loops, bool kSums = false>
std::unique_ptr<Runner> bind_runner(L& link, C clock, EndMemory& memory, const PointShape& shape) {
  return std::make_unique<PatternRunner<L, C, Loops, kSums>>(link, clock, memory, shape);
}

/// Throws Failure when the link cannot do the pattern (plans are checked before, so that is a
/// defect of ours).
template <Link L, class C>
std::unique_ptr<Runner> make_runner(L& link, C clock, EndMemory& memory, const PointShape& shape) {
  using enum Pattern;
  using enum Formula;
  static constexpr RunnerEntry<L, C> kTwoSided[] = {
      {pingpong, Form::latency, robust, bind_runner<L, C, PingPong>},
      {pingpong, Form::latency, osu, bind_runner<L, C, OsuPingPong, true>},
      {pingpong, Form::latency, imb_mpi1, bind_runner<L, C, PingPong>},
      {pingpong, Form::latency, imb_p2p, bind_runner<L, C, TouchingPingPong>},
      {stream, Form::stream, robust, bind_runner<L, C, Stream>},
      {stream, Form::stream, osu, bind_runner<L, C, OsuStream, true>},
      {stream, Form::stream, imb_mpi1, bind_runner<L, C, Uniband, true>},
      {exchange, Form::stream, robust, bind_runner<L, C, Exchange>},
      {exchange, Form::stream, osu, bind_runner<L, C, OsuExchange, true>},
      {exchange, Form::stream, imb_mpi1, bind_runner<L, C, Sendrecv, true>},
  };
  const auto matches = [&](const auto& e) {
    return e.pattern == shape.pattern && e.form == shape.form && e.formula == shape.formula;
  };
  for (const auto& entry : kTwoSided) {
    if (matches(entry)) return entry.make(link, clock, memory, shape);
  }
  if constexpr (L::kOneSided) {
    static constexpr RunnerEntry<L, C> kOneSided[] = {
        {put, Form::latency, robust, bind_runner<L, C, PutLatency>},
        {put, Form::latency, osu, bind_runner<L, C, PutLatency>},
        {put, Form::stream, robust, bind_runner<L, C, PutStream>},
        {put, Form::stream, osu, bind_runner<L, C, PutStream>},
        {get, Form::latency, robust, bind_runner<L, C, GetLatency>},
        {get, Form::latency, osu, bind_runner<L, C, GetLatency>},
        {get, Form::stream, robust, bind_runner<L, C, GetStream>},
        {get, Form::stream, osu, bind_runner<L, C, GetStream>},
    };
    for (const auto& entry : kOneSided) {
      if (matches(entry)) return entry.make(link, clock, memory, shape);
    }
  }
  throw cannot_measure("no-pattern", "this transport has no " +
                                         std::string(name_of(shape.pattern)) + " by formula " +
                                         std::string(name_of(shape.formula)));
}

}  // namespace wireproof
