// The point frame as text (docs/reference/engine-interface.md).
#pragma once

#include <cstdint>
#include <string>

#include "measure/outcome.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// One element of `pairs`.
std::string pair_json(const PairOutcome& outcome, const Point& point);

/// `pairs` and `witness`: elements as JSON text, joined by commas.
struct PointParts {
  std::int64_t started_unix_ns = 0;
  std::int64_t elapsed_ns = 0;
  std::string pairs{};
  std::string witness{};
};
std::string point_frame(const Point& point, const PointParts& parts);

}  // namespace wireproof
