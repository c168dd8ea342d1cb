#include "transport/model/counters.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/text_split.hpp"

namespace wireproof {
namespace {

constexpr std::size_t kLongestFile = 4 << 20;
constexpr std::int64_t kNsPerMs = 1'000'000;

Failure wrong(const ModelCounter& counter, const std::string& what) {
  return bad_plan("plan line " + std::to_string(counter.line) +
                  ": model_counter path=" + counter.path + ": " + what);
}

std::string stamp() {
  const std::int64_t now = unix_ns();
  std::string nanoseconds = std::to_string(now % 1'000'000'000);
  nanoseconds.insert(0, 9 - nanoseconds.size(), '0');
  return "@" + std::to_string(now / 1'000'000'000) + "." + nanoseconds;
}

}  // namespace

void ModelTally::add(const ModelTally& other) {
  tx_bytes += other.tx_bytes;
  rx_bytes += other.rx_bytes;
  tx_messages += other.tx_messages;
  rx_messages += other.rx_messages;
}

std::uint64_t counter_value(const ModelCounter& c, const ModelTally& tally, double elapsed_ms) {
  const double until_ms = c.to_ms > 0 ? std::min<double>(elapsed_ms, c.to_ms) : elapsed_ms;
  const double others_ms = std::max(0.0, until_ms - c.from_ms);
  const long double moved = static_cast<long double>(c.tx_byte) * tally.tx_bytes +
                            static_cast<long double>(c.rx_byte) * tally.rx_bytes +
                            static_cast<long double>(c.tx_message) * tally.tx_messages +
                            static_cast<long double>(c.rx_message) * tally.rx_messages +
                            static_cast<long double>(c.per_second) * others_ms / 1e3L;
  const std::uint64_t largest = c.width == 64 ? UINT64_MAX : (std::uint64_t{1} << c.width) - 1;
  if (c.pegs) {
    if (c.start >= largest || moved >= static_cast<long double>(largest - c.start)) return largest;
    return c.start + static_cast<std::uint64_t>(moved);
  }
  const long double turn = static_cast<long double>(largest) + 1;
  return (c.start + static_cast<std::uint64_t>(std::fmod(moved, turn))) & largest;
}

ModelCounters::ModelCounters(const Plan& plan) : began_ns_(monotonic_ns()) {
  std::unordered_map<int, const std::string*> hosts;
  for (const RankPlace& place : plan.ranks) hosts[place.index] = &place.host;
  for (const ModelCounter& what : plan.model_counters) {
    const auto host = hosts.find(what.rank);
    const std::string root =
        expand_root(plan.witness.root, host == hosts.end() ? "" : *host->second, what.rank);
    auto& tree = trees_[root];
    if (tree == nullptr) tree = std::make_unique<Tree>(root);
    add_counter(what, *tree);
  }
  show();
}

void ModelCounters::add_counter(const ModelCounter& what, const Tree& tree) {
  const auto [place, fresh] = by_path_.try_emplace(tree.root() + '\n' + what.path, files_.size());
  if (fresh) {
    if (!tree.target(what.path).empty() || !tree.open(what.path, O_WRONLY))
      throw wrong(what, "is no regular file below " + tree.root() + " that can be written");
    files_.push_back({&tree, what.path, {}, what.path.find("/telemetry/") != std::string::npos});
  } else if (what.statistic.empty()) {
    throw wrong(what, "is moved for two ranks that have one root");
  }
  Counter counter{what};
  counter.file = place->second;
  if (!what.statistic.empty()) counter.line = find_line(what, files_[counter.file]);
  counter.shown = counter_value(what, {}, 0);
  const std::int64_t refresh_ns = what.refresh_ms * kNsPerMs;
  if (refresh_ns > 0) counter.refreshed_ns = began_ns_ / refresh_ns * refresh_ns;
  put(counter);
  counters_.push_back(std::move(counter));
}

std::size_t ModelCounters::find_line(const ModelCounter& what, File& file) const {
  if (file.lines.empty()) {
    const FileText found = file.tree->read(file.path, kLongestFile);
    std::string_view text = found.text;
    while (const auto line = take_line(text)) file.lines.emplace_back(*line);
  }
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = file.lines[i];
    const std::size_t colon = line.rfind(':');
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (colon == std::string_view::npos || first >= colon) continue;
    if (line.substr(first, colon - first) == what.statistic) return i;
  }
  throw wrong(what, "has no statistic " + what.statistic);
}

/// Files that contain one number have one line.
void ModelCounters::put(const Counter& counter) {
  File& file = files_[counter.file];
  const std::string value = std::to_string(counter.shown);
  if (counter.what.statistic.empty()) {
    file.lines = {file.stamped ? value + stamp() : value};
  } else {
    std::string& line = file.lines[counter.line];
    line = line.substr(0, line.rfind(':')) + ": " + value;
  }
  file.changed = true;
}

/// An adapter shows the values of the last multiple of its refresh time.
void ModelCounters::refresh(Counter& counter, std::int64_t now_ns) {
  const std::int64_t refresh_ns = counter.what.refresh_ms * kNsPerMs;
  const std::int64_t at_ns = refresh_ns > 0 ? now_ns / refresh_ns * refresh_ns : now_ns;
  if (refresh_ns > 0 && at_ns <= counter.refreshed_ns) return;
  counter.refreshed_ns = at_ns;
  const double elapsed_ms = static_cast<double>(at_ns - began_ns_) / kNsPerMs;
  const std::uint64_t value = counter_value(counter.what, tallies_[counter.what.rank], elapsed_ms);
  if (value == counter.shown) return;
  counter.shown = value;
  put(counter);
}

void ModelCounters::add(int rank, const ModelTally& tally) {
  const std::int64_t now_ns = monotonic_ns();
  for (Counter& counter : counters_) {
    if (counter.what.rank == rank && counter.what.refresh_ms > 0) refresh(counter, now_ns);
  }
  tallies_[rank].add(tally);
}

void ModelCounters::show() {
  const std::int64_t now_ns = monotonic_ns();
  for (Counter& counter : counters_) refresh(counter, now_ns);
  for (File& file : files_) {
    if (file.changed) write(file);
  }
}

/// Written in place, so that a concurrent reader finds a number; a shorter text truncates the rest.
void ModelCounters::write(File& file) const {
  std::string text;
  for (const std::string& line : file.lines) text.append(line) += '\n';
  const Descriptor out = file.tree->open(file.path, O_WRONLY);
  const bool good =
      out &&
      ::pwrite(out.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::ftruncate(out.number(), static_cast<off_t>(text.size())) == 0;
  if (!good)
    throw cannot_measure("model-counter",
                         file.tree->root() + "/" + file.path + " cannot be written any more");
  file.changed = false;
}

}  // namespace wireproof
