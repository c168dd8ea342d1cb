// The part of a point that only group patterns have.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

constexpr int kMostRanks = 1 << 20;

/// A rank as a number, or nothing.
std::optional<int> parse_rank(std::string_view text);

/// `0:3,8`: ranks and ranges (first:last), in the order of the members. Every rank occurs once.
std::vector<int> take_members(Statement& line);

/// Reads members= and order=, and checks that the pattern works with that many members.
void read_group(Statement& line, Point& point);

}  // namespace wireproof
