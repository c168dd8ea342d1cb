// The `reading` frames of `watch`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "witness/reader.hpp"

namespace wireproof {

/// Turns readings into frames: each names the counters that differ from what was written last, so
/// that a reader who keeps them has all values at all times.
class WatchWriter {
 public:
  explicit WatchWriter(const witness::Reader& reader) : reader_(reader) {}

  /// {"frame":"reading","t_ns":..,"asked":N,"source":..,"counters":{name: value},"lost":[name ..]}.
  /// "asked" only when a line of standard input asked for it; "lost": known before, not readable
  /// now (full readings only).
  std::string reading(const witness::Snapshot& snapshot, witness::Depth depth, int asked);

 private:
  const witness::Reader& reader_;
  std::vector<std::optional<std::uint64_t>> written_;
};

}  // namespace wireproof
