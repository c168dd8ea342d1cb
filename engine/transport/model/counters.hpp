// Counter files that the model moves as adapters would: what crossed, in their own units, at the
// moments when they show it (docs/reference/engine-interface.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/tree.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Payload of one rank.
struct ModelTally {
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_messages = 0;
  std::uint64_t rx_messages = 0;

  void sends(std::size_t bytes) {
    tx_bytes += bytes;
    ++tx_messages;
  }
  void receives(std::size_t bytes) {
    rx_bytes += bytes;
    ++rx_messages;
  }
  void add(const ModelTally& other);
};

/// What `counter` shows when `tally` has crossed and the run is `elapsed_ms` old.
std::uint64_t counter_value(const ModelCounter& counter, const ModelTally& tally,
                            double elapsed_ms);

class ModelCounters {
 public:
  /// Writes where each counter starts. Throws Failure (bad plan) for a file that is not there.
  explicit ModelCounters(const Plan& plan);

  void add(int rank, const ModelTally& tally);
  /// Brings every file up to what its adapter would show now.
  void show();

 private:
  struct File {
    const Tree* tree = nullptr;
    std::string path;
    std::vector<std::string> lines;  // of driver statistics
    bool stamped = false;            // "value@time"
    bool changed = true;
  };
  struct Counter {
    ModelCounter what;
    std::size_t file = 0;
    std::size_t line = 0;  // of driver statistics
    std::uint64_t shown = 0;
    std::int64_t refreshed_ns = 0;
  };

  void add_counter(const ModelCounter& what, const Tree& tree);
  std::size_t find_line(const ModelCounter& what, File& file) const;
  void refresh(Counter& counter, std::int64_t now_ns);
  void put(const Counter& counter);
  void write(File& file) const;

  std::int64_t began_ns_;
  std::map<std::string, std::unique_ptr<Tree>> trees_;  // by root
  std::map<std::string, std::size_t> by_path_;
  std::vector<File> files_;
  std::vector<Counter> counters_;
  std::unordered_map<int, ModelTally> tallies_;  // by rank
};

}  // namespace wireproof
