#include "plan/model_counter.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include "plan/members.hpp"

namespace wireproof {
namespace {

constexpr double kLargest = 1e12;  // counts for each byte, message or second
constexpr int kLongestMs = 3'600'000;

/// `sys/class/..`, `ethtool/hsn0#tx_bytes_phy`: below the root, regardless of links there.
void take_path(Statement& line, ModelCounter& counter) {
  const std::string path = line.take("path").value_or("");
  const std::size_t hash = path.find('#');
  counter.path = path.substr(0, hash);
  if (hash != std::string::npos) counter.statistic = path.substr(hash + 1);
  const bool names_statistic = !counter.statistic.empty();
  if (counter.path.empty() || counter.path.front() == '/')
    line.fail("path=" + path + " is not relative to the root of the rank's tree");
  if (counter.path.starts_with("ethtool/") != names_statistic)
    line.fail("path=" + path +
              ": a file of driver statistics is named ethtool/INTERFACE#STATISTIC");
}

}  // namespace

ModelCounter take_model_counter(Statement& line) {
  ModelCounter c;
  c.line = line.number();
  const auto rank = line.take_number<int>("rank", 0, kMostRanks);
  if (!rank) line.fail("model_counter needs rank=");
  c.rank = *rank;
  take_path(line, c);
  assign(c.start, line.take_number<std::uint64_t>("start", 0, UINT64_MAX));
  assign(c.width, line.take_number<int>("width", 8, 64));
  if (const auto pegs = line.take_number<int>("pegs", 0, 1)) c.pegs = *pegs == 1;
  assign(c.refresh_ms, line.take_number<int>("refresh_ms", 0, kLongestMs));
  assign(c.tx_byte, line.take_number<double>("tx_byte", 0, kLargest));
  assign(c.rx_byte, line.take_number<double>("rx_byte", 0, kLargest));
  assign(c.tx_message, line.take_number<double>("tx_message", 0, kLargest));
  assign(c.rx_message, line.take_number<double>("rx_message", 0, kLargest));
  assign(c.per_second, line.take_number<double>("per_second", 0, kLargest));
  assign(c.from_ms, line.take_number<int>("from_ms", 0, kLongestMs));
  assign(c.to_ms, line.take_number<int>("to_ms", 0, kLongestMs));
  return c;
}

void check_model_counters(const Plan& plan) {
  if (plan.model_counters.empty()) return;
  const std::string where = "plan line " + std::to_string(plan.model_counters.front().line) + ": ";
  if (plan.transport != TransportKind::model)
    throw bad_plan(where + "model_counter needs transport kind=model");
  if (plan.witness.root.empty() || plan.witness.root == "/")
    throw bad_plan(where + "model_counter needs witness root=DIR: it writes below DIR only");
  std::set<std::pair<int, std::string>> seen;
  for (const ModelCounter& one : plan.model_counters) {
    if (!seen.insert({one.rank, one.path + '#' + one.statistic}).second)
      throw bad_plan("plan line " + std::to_string(one.line) + ": model_counter path=" + one.path +
                     " comes twice for rank " + std::to_string(one.rank));
  }
}

}  // namespace wireproof
