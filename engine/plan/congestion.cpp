#include "plan/congestion.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "plan/members.hpp"

namespace wireproof {
namespace {

constexpr std::size_t kLargestLoad = std::size_t{1} << 30;

/// Appends both ranks of every `ORIGIN-TARGET`; returns the number of pairs.
int take_twos(Statement& line, std::string_view key, std::unordered_set<int>& seen,
              std::vector<int>& members) {
  const auto text = line.take(key);
  if (!text || text->empty()) line.fail("congestion needs " + std::string(key) + "=");
  int count = 0;
  for (std::string_view rest = *text;; ++count) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = std::min(item.find('-'), item.size());
    for (const std::string_view end :
         {item.substr(0, dash), item.substr(std::min(dash + 1, item.size()))}) {
      const auto rank = parse_rank(end);
      if (!rank)
        line.fail(std::string(key) + ": \"" + std::string(item) + "\" is not ORIGIN-TARGET");
      if (!seen.insert(*rank).second) {
        line.fail("pairs and load must be disjoint, and " + std::string(key) + " names rank " +
                  std::to_string(*rank) + " again");
      }
      members.push_back(*rank);
    }
    if (comma == std::string_view::npos) return count + 1;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

void read_congestion(Statement& line, Point& point) {
  std::unordered_set<int> seen;
  point.watched_pairs = take_twos(line, "pairs", seen, point.members);
  take_twos(line, "load", seen, point.members);
  point.highest_rank = *std::max_element(point.members.begin(), point.members.end());
  const auto bytes = line.take_number<std::size_t>("load_bytes", 1, kLargestLoad);
  if (bytes) point.load_bytes = *bytes;
}

}  // namespace wireproof
