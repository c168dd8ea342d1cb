// Counters that are files: InfiniBand port and hardware counters, Slingshot's telemetry, and the
// interface and driver statistics of another machine's tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "witness/snapshot.hpp"

namespace wireproof::witness {

/// `fabric`: of RDMA and cxi devices. `all`: also those of interfaces, which on a live host are
/// read by netlink and ioctl.
enum class FileScope { none, fabric, all };

class FileCounters {
 public:
  // `keep_open`: keep the files open and pread them (sysfs generates the text again at every read
  // at offset 0). The files of a saved tree are opened again each time, because a deleted file
  // would still be readable.
  FileCounters(const Tree& tree, FileScope scope, bool keep_open);

  /// Ends at `deadline_ns` (CLOCK_MONOTONIC): counters that were not read by then are unreadable
  /// this time.
  void read(NameTable& names, Snapshot& snapshot, Depth depth, std::int64_t deadline_ns);

 private:
  struct Entry {
    std::string path;
    std::size_t index = 0;
    bool bytes = false;
    bool stamped = false;  // "value@time" (cxi)
    Descriptor file{};
  };

  std::vector<std::string> devices() const;
  void scan(NameTable& names, std::int64_t deadline_ns);
  void scan_infiniband(const std::string& device, NameTable& names);
  void add_folder(const std::string& folder, const std::string& prefix, NameTable& names);
  bool read_all(Snapshot& snapshot, Depth depth,
                std::int64_t deadline_ns);  // false: a device disappeared
  std::optional<std::uint64_t> read_entry(Entry& entry, bool& gone);

  const Tree& tree_;
  FileScope scope_;
  bool keep_open_;
  std::size_t open_budget_ = 0;
  std::size_t open_now_ = 0;
  std::vector<std::string> devices_;
  std::vector<Entry> entries_;
};

/// ethtool/<interface>/<string> of a tree: its files ethtool/<interface>, in the format of `ethtool
/// -S`.
void read_ethtool_files(const Tree& tree, NameTable& names, Snapshot& snapshot,
                        std::int64_t deadline_ns);
void parse_ethtool_text(std::string_view text, const std::string& interface, NameTable& names,
                        Snapshot& snapshot);

}  // namespace wireproof::witness
