// The measurement of one pair's origin at one point: the `pairs` element of the point frame, before
// it is converted to text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "measure/schedule.hpp"
#include "measure/statistics.hpp"
#include "sentinel/sentinel.hpp"

namespace wireproof {

enum class Integrity { ok, corrupt, unchecked };

struct WarmUp {
  std::uint64_t operations = 0;
  double elapsed_ns = 0;
  bool stationary = false;
};

/// The sampler's results, for pairs and for groups.
struct Samples {
  Stop stop = Stop::budget;
  std::uint64_t operations_per_batch = 1;
  std::vector<Ticks> batch_ticks;
  std::vector<std::uint32_t> block_batches;
  std::vector<double> block_values;  ///< ticks per batch
  WarmUp warm_up;
  std::uint64_t operations = 0;  ///< all, warm-up and lead-in included
  std::uint64_t counted_operations = 0;
};

struct PairOutcome : Samples {
  int origin = 0;
  int target = 0;
  bool begun = true;  ///< false: the pair could not begin, and nothing below is known
  std::uint64_t messages_forward = 0;
  std::uint64_t messages_backward = 0;
  std::uint64_t payload_forward_bytes = 0;
  std::uint64_t payload_backward_bytes = 0;
  int window_used = 1;
  std::optional<Estimate> estimate;
  std::optional<double> target_elapsed_ns;
  std::optional<double> target_waited_ns;  // for a processor meanwhile
  std::optional<double> formula_value_ns;
  std::vector<sentinel::Reading> sentinels;
  Integrity integrity = Integrity::unchecked;
  std::optional<int> origin_core;
  std::optional<int> target_core;
  double ns_per_tick = 1;  ///< at the end of the point; converts batch_ticks
};

/// Half a round trip if an operation is a round trip, otherwise one operation.
double operations_per_estimate(const Point& point);

}  // namespace wireproof
