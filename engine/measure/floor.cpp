#include "measure/floor.hpp"

#include <vector>

#include "measure/statistics.hpp"
#include "transport/null/group_link.hpp"
#include "transport/null/null_link.hpp"

namespace wireproof {

namespace {

constexpr std::uint32_t kBatches = 101;
constexpr std::uint32_t kOperations = 1024;

double per_operation(std::span<const Ticks> ticks, double operations, const HostClock& clock) {
  return median_of(std::vector<double>(ticks.begin(), ticks.end())) * clock.ns_per_tick() /
         operations;
}

/// As member 0 of two.
double group_floor_ns(Pattern pattern, const HostClock& clock) {
  const auto end = make_null_member(clock, 2);
  const auto runner = end->make_runner({.pattern = pattern,
                                        .bytes = 8,
                                        .window = 64,
                                        .left = 1,
                                        .right = 1,
                                        .watched = 1,
                                        .load_bytes = 8});
  const int granule = runner->layout().granule;
  const std::uint32_t granules = kOperations / static_cast<std::uint32_t>(granule);
  std::vector<Ticks> ticks(kBatches + 1);
  runner->run({.lead_in = granules, .batches = kBatches, .granules = granules}, ticks);
  return per_operation(std::span(ticks).first(kBatches), static_cast<double>(granules) * granule,
                       clock);
}

}  // namespace

double harness_floor_ns(Pattern pattern, Form form, const HostClock& clock) {
  if (is_group(pattern)) return group_floor_ns(pattern, clock);
  NullWorld world({});
  const auto origin = make_null_origin(clock, world);
  const PointShape shape{.pattern = pattern, .form = form, .bytes = 8, .window = 64};
  const auto runner = origin->make_runner(shape);
  const std::uint32_t granules = kOperations / static_cast<std::uint32_t>(runner->granule());
  std::vector<Ticks> ticks(kBatches + 1);
  runner->originate({.lead_in = granules, .batches = kBatches, .granules = granules}, ticks);
  return per_operation(std::span(ticks).first(kBatches),
                       static_cast<double>(granules) * runner->granule(), clock);
}

}  // namespace wireproof
