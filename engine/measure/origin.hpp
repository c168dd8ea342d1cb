// The origin's program for one point: warm up, time blocks until the stop rule applies, verify the
// payload, report.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "measure/outcome.hpp"
#include "measure/sampler.hpp"
#include "measure/session.hpp"

namespace wireproof {

class Origin final : private Sampled {
 public:
  Origin(Pair& pair, const EndContext& context);
  PairOutcome run();

 private:
  Timing time_segment(const Segment& segment, bool counted) override;
  void forget() override;
  void begin_block() override;
  void end_block() override;
  int granule() const override { return runner_->granule(); }
  bool pipelined() const override { return runner_->pipelined(); }
  Ticks now() override { return pair_.now(); }
  const ClockFacts& clock() const override { return pair_.clock(); }

  std::optional<double> bounce();
  void verify();
  void finish();
  void conclude(const struct TargetReport& report);

  Pair& pair_;
  const EndContext& context_;
  const Point& point_;
  const Policy& policy_;
  std::unique_ptr<Runner> runner_;
  std::vector<Ticks> scratch_;
  PairOutcome outcome_;
  std::optional<double> bounce_ns_;
  int verifications_ = 0;
};

}  // namespace wireproof
