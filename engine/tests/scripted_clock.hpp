// A measurement in which the test scripts the time of every operation, so that the sampler's
// decisions can be computed.
#pragma once

#include <functional>
#include <vector>

#include "measure/sampler.hpp"

namespace wireproof::test {

constexpr ClockFacts kNanoseconds{ClockSource::virtual_time, 1.0, 1.0, 0.0};

class ScriptedClock final : public Sampled {
 public:
  struct Call {
    Segment segment;
    bool counted = false;
  };
  /// Time in ns of the granule with this number that begins at this time.
  using Cost = std::function<double(double now_ns, std::uint64_t number)>;

  explicit ScriptedClock(Cost cost, int granule = 1, bool pipelined = false)
      : cost_(std::move(cost)), granule_(granule), pipelined_(pipelined) {}

  Timing time_segment(const Segment& segment, bool counted) override {
    calls_.push_back({segment, counted});
    play(segment.lead_in);
    const double before = now_ns_;
    batches_.clear();
    for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
      const double start = now_ns_;
      play(segment.granules);
      batches_.push_back(static_cast<Ticks>(now_ns_ - start));
    }
    const double timed = now_ns_ - before;
    play(segment.trail);
    return {batches_, timed};
  }
  void forget() override { ++forgotten_; }
  void begin_block() override { ++begun_; }
  void end_block() override { ++ended_; }
  int granule() const override { return granule_; }
  bool pipelined() const override { return pipelined_; }
  int settle() const override { return settle_; }
  void settle_after(int granules) { settle_ = granules; }
  Ticks now() override { return static_cast<Ticks>(now_ns_); }
  const ClockFacts& clock() const override { return clock_; }

  const std::vector<Call>& calls() const { return calls_; }
  double now_ns() const { return now_ns_; }
  std::uint64_t granules() const { return number_; }
  int begun() const { return begun_; }
  int ended() const { return ended_; }
  int forgotten() const { return forgotten_; }
  ClockFacts& facts() { return clock_; }

 private:
  void play(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) now_ns_ += cost_(now_ns_, number_++);
  }

  Cost cost_;
  int granule_;
  bool pipelined_;
  int settle_ = 0;
  ClockFacts clock_ = kNanoseconds;
  double now_ns_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Call> calls_;
  std::vector<Ticks> batches_;
  int begun_ = 0;
  int ended_ = 0;
  int forgotten_ = 0;
};

inline ScriptedClock::Cost steady(double ns) {
  return [ns](double, std::uint64_t) { return ns; };
}

}  // namespace wireproof::test
