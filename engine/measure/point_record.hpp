// The point frame as text (docs/reference/engine-interface.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"
#include "measure/outcome.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// One element of `pairs`.
std::string pair_json(const PairOutcome& outcome, const Point& point);

/// Whole picoseconds: a clock tick is about 400 of them, and more digits would only make the line
/// longer.
double rounded(double ns);

/// Parts that the elements of `pairs` and `group` have in common.
std::string_view word(Stop stop);
std::string_view word(Integrity integrity);
void write_estimate(JsonWriter& json, const Estimate& estimate);
void write_batches(JsonWriter& json, const Samples& samples, double ns_per_tick, bool brief);
void write_warm_up(JsonWriter& json, const WarmUp& warm_up);

/// `pairs` and `witness`: elements as JSON text, joined by commas. `group`: one, or "".
struct PointParts {
  std::int64_t started_unix_ns = 0;
  std::int64_t elapsed_ns = 0;
  std::string pairs{};
  std::string group{};
  std::string witness{};
};
std::string point_frame(const Point& point, const PointParts& parts);

}  // namespace wireproof
