#include "measure/floor.hpp"

#include <vector>

#include "measure/statistics.hpp"
#include "pattern/link_pair.hpp"
#include "transport/null/null_link.hpp"

namespace wireproof {

double harness_floor_ns(Pattern pattern, Form form, const HostClock& clock) {
  constexpr std::uint32_t kBatches = 101;
  constexpr std::uint32_t kOperations = 1024;
  NullWorld world({});
  LinkPair<NullLink> origin(clock, world, true);
  const PointShape shape{.pattern = pattern, .form = form, .bytes = 8, .window = 64};
  const auto runner = origin.make_runner(shape);
  const std::uint32_t granules = kOperations / static_cast<std::uint32_t>(runner->granule());
  std::vector<Ticks> ticks(kBatches + 1);
  runner->originate({.lead_in = granules, .batches = kBatches, .granules = granules}, ticks);
  ticks.pop_back();
  const double operations = static_cast<double>(granules) * runner->granule();
  return median_of(std::vector<double>(ticks.begin(), ticks.end())) * clock.ns_per_tick() /
         operations;
}

}  // namespace wireproof
