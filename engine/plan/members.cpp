#include "plan/members.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_set>

#include "plan/collective.hpp"
#include "plan/congestion.hpp"

namespace wireproof {
namespace {

struct Range {
  int first;
  int last;
};

Range take_range(const Statement& line, std::string_view item) {
  const std::size_t colon = item.find(':');
  const auto first = parse_rank(item.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : parse_rank(item.substr(colon + 1));
  if (!first || !last || *last < *first) {
    line.fail("members: \"" + std::string(item) + "\" is not RANK or FIRST:LAST");
  }
  return {*first, *last};
}

}  // namespace

std::optional<int> parse_rank(std::string_view text) {
  int rank = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  if (rank < 0 || rank >= kMostRanks) return std::nullopt;
  return rank;
}

std::vector<int> take_members(Statement& line) {
  std::vector<int> members;
  std::unordered_set<int> seen;
  const auto text = line.take("members");
  if (!text || text->empty()) return members;
  std::string_view rest = *text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const Range range = take_range(line, rest.substr(0, comma));
    for (int rank = range.first; rank <= range.last; ++rank) {
      if (!seen.insert(rank).second) {
        line.fail("members names rank " + std::to_string(rank) + " twice");
      }
      members.push_back(rank);
    }
    if (comma == std::string_view::npos) return members;
    rest.remove_prefix(comma + 1);
  }
}

void read_group(Statement& line, Point& point) {
  if (point.pattern == Pattern::congestion) return read_congestion(line, point);
  const std::string name(name_of(point.pattern));
  point.members = take_members(line);
  for (const int rank : point.members) point.highest_rank = std::max(point.highest_rank, rank);
  const std::size_t count = point.members.size();
  if (count == 0) line.fail(name + " needs members=");
  if (count == 1)
    line.fail("members=" + std::to_string(point.members[0]) + " is one rank, and " + name +
              " needs two or more");
  if (point.pattern == Pattern::message_rate && count % 2 != 0) {
    line.fail("members has " + std::to_string(count) +
              " ranks, and message_rate pairs them: " + "give an even number");
  }
  if (is_collective(point.pattern)) read_collective(line, point);
  if (const auto order = line.take_choice<RingOrder>("order", kRingOrderNames)) {
    if (point.pattern != Pattern::ring) line.fail("order= is for ring only");
    point.order = *order;
  }
}

}  // namespace wireproof
