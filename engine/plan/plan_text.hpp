// The plan as text, from any source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wireproof {

/// A plan of ten thousand nodes has some ten megabytes; a longer text is not a plan.
inline constexpr std::size_t kLongestPlan = std::size_t{1} << 30;

/// The first line of a plan whose writer waits until each part has been read. It is not part of the
/// plan.
inline constexpr std::string_view kPaced = "wireproof-plan paced\n";

/// The content of `file`, or of standard input if it is "-": regular files, pipes and terminals.
/// Throws bad_plan if it cannot be read or is longer than `limit` bytes.
std::string read_plan_text(const std::string& file, std::size_t limit = kLongestPlan);

}  // namespace wireproof
