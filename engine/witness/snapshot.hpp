// Counters by index: names are interned once, so that a reading of thousands of counters is one
// array of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace wireproof::witness {

class NameTable {
 public:
  std::size_t index(const std::string& name) {
    if (const auto known = by_name_.find(name); known != by_name_.end()) return known->second;
    names_.push_back(name);
    by_name_.emplace(names_.back(), names_.size() - 1);
    return names_.size() - 1;
  }
  std::string_view name(std::size_t index) const { return names_[index]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // never moves its elements, so views into it stay valid
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

// The extent of a reading: byte counters are cheap enough to be read many times a second;
// the driver's statistics may require an exchange with the NIC's firmware.
enum class Depth { everything, bytes };

inline bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// Counters of traffic, as opposed to counters of errors: net/*/tx_bytes, port_xmit_data,
// ip4OutOctets ... For cxi, whose telemetry has a thousand names, also packets, which are used to
// check its bytes.
inline bool tells_bytes(std::string_view name) {
  const std::string_view leaf = name.substr(name.rfind('/') + 1);
  if (name.starts_with("cxi/"))
    return contains(leaf, "octets") || contains(leaf, "bytes") || contains(leaf, "pkts");
  return leaf.ends_with("_bytes") || leaf.ends_with("Octets") || leaf == "port_xmit_data" ||
         leaf == "port_rcv_data";
}

struct Snapshot {
  std::int64_t started_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t finished_ns = 0;
  std::vector<std::optional<std::uint64_t>>
      values;  // by NameTable index; nothing = not readable this time

  std::int64_t middle_ns() const { return started_ns + (finished_ns - started_ns) / 2; }

  void set(std::size_t index, std::optional<std::uint64_t> value) {
    if (index >= values.size()) values.resize(index + 1);
    values[index] = value;
  }
  std::optional<std::uint64_t> at(std::size_t index) const {
    return index < values.size() ? values[index] : std::nullopt;
  }
};

}  // namespace wireproof::witness
