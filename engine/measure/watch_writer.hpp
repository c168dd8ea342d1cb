// The `reading` frames of `watch`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "witness/reader.hpp"

namespace wireproof {

/// Turns readings into frames. A frame contains only the counters that differ from the last frame;
/// a reader that keeps the values has all of them.
class WatchWriter {
 public:
  explicit WatchWriter(const witness::Reader& reader) : reader_(reader) {}

  /// {"frame":"reading","t_ns":..,"asked":N,"source":..,"counters":{name: value},"lost":[name ..]}.
  /// "asked" only if a line of standard input requested it; "lost": known before, not readable now
  /// (full readings only).
  std::string reading(const witness::Snapshot& snapshot, witness::Depth depth, int asked);

 private:
  const witness::Reader& reader_;
  std::vector<std::optional<std::uint64_t>> written_;
};

}  // namespace wireproof
