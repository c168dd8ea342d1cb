// The frames as text (docs/reference/engine-interface.md). Points, witness, host and facts are
// written by separate parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "plan/plan.hpp"

namespace wireproof {

struct OpenFacts {
  std::string_view abi;
  int ranks = 1;
  ClockFacts clock;
};

std::string open_frame(const Plan& plan, const OpenFacts& facts);
std::string floor_frame(Pattern pattern, Form form, double floor_ns);
std::string start_frame(std::int64_t id);
std::string error_frame(std::string_view code, std::string_view message, int rank,
                        std::optional<std::int64_t> id = std::nullopt);
std::string close_frame(std::size_t points, std::size_t failed, std::int64_t elapsed_ns,
                        std::uint64_t peak_rss_bytes);

}  // namespace wireproof
