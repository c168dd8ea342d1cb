// Counter files that the model updates as adapters would: the traffic in the adapter's units, at
// the times at which it shows them (docs/reference/engine-interface.md).
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

/// The value of `counter` after the traffic in `tally`, when the run is `elapsed_ms` old.
std::uint64_t counter_value(const ModelCounter& counter, const ModelTally& tally,
                            double elapsed_ms);

class ModelCounters {
 public:
  /// Writes the start value of each counter. Throws Failure (bad plan) for a file that does not
  /// exist.
  explicit ModelCounters(const Plan& plan);

  void add(int rank, const ModelTally& tally);
  /// Updates every file to the value that its adapter would show now.
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
