// Reads every counter of this host before and after a measurement: the evidence of the path.
//
// Values are raw, in the driver's unit; the judging code interprets wrapping and units. Use:
// Reader reader(plan.witness.root); auto before = reader.read(); ...; auto after = reader.read();
// reader.delta(before, after) -> what changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "witness/device_counters.hpp"
#include "witness/ethtool_counters.hpp"
#include "witness/file_counters.hpp"
#include "witness/protocol_counters.hpp"
#include "witness/snapshot.hpp"

namespace wireproof::witness {

struct Change {
  std::string_view name;  // has the lifetime of the Reader
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

/// A counter that can be read, and its value.
struct Standing {
  std::string_view name;  // lives as long as the Reader
  std::uint64_t value = 0;
};

struct Delta {
  double interval_ns = 0;  // between the midpoints of the two readings
  std::vector<Change> changed;
  // known counters that are missing from one of the readings
  std::vector<std::string_view> unreadable;
  std::string_view source;  // "netlink", "proc" or "sysfs": where net/* came from
  // /sys shows another network namespace, so its counters were not used
  bool foreign_sysfs = false;
};

/// Changes of byte counters while nothing was sent; negative if a counter fell.
struct Quiet {
  double interval_ns = 0;
  std::vector<std::pair<std::string_view, std::int64_t>> changed;
};

class Reader {
 public:
  // `root` "/" reads this host: interface statistics by rtnetlink (or /proc/self/net/dev if netlink
  // is denied), driver statistics by the ethtool ioctl, RDMA and cxi counters from /sys. Any other
  // root is a tree of another machine, of which only files are read (base/tree.hpp). Construct it
  // in the network namespace to be observed. `protocols`: also the kernel's TCP, UDP and IP
  // counters.
  explicit Reader(const std::string& root = "/", bool protocols = false);

  // Bounded in time: counters that do not respond by then are unreadable this time.
  Snapshot read(Depth depth = Depth::everything);
  Delta delta(const Snapshot& before, const Snapshot& after) const;
  // The same without counters: only duration and source.
  Delta header(const Snapshot& before, const Snapshot& after) const;

  std::size_t counter_count() const { return names_.size(); }
  std::string_view counter_name(std::size_t index) const { return names_.name(index); }
  std::string_view source() const { return source_; }
  bool foreign_sysfs() const { return foreign_sysfs_; }

 private:
  const Tree tree_;
  const bool foreign_sysfs_;
  NameTable names_;
  std::optional<DeviceCounters> links_;
  std::optional<EthtoolCounters> ethtool_;
  std::optional<ProtocolCounters> protocols_;
  FileCounters files_;
  std::string_view source_ = "sysfs";
};

// Ranks that share a network namespace: one kernel (boot id) and one namespace inode on it.
struct HostIdentity {
  std::string boot_id;
  std::uint64_t netns = 0;

  bool known() const { return !boot_id.empty() && netns != 0; }
};

// The lowest rank that sees the same counters as `rank`; `rank` itself if its identity is unknown
// (then every rank reads, because reading twice only costs time, but without a reading there is no
// proof).
int reader_of(const std::vector<HostIdentity>& identities, int rank);
inline bool is_reader(const std::vector<HostIdentity>& identities, int rank) {
  return reader_of(identities, rank) == rank;
}

}  // namespace wireproof::witness
