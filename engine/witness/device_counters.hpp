// net/<interface>/<statistic> and net/<interface>/carrier_changes of the caller's network
// namespace.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/network_devices.hpp"
#include "witness/snapshot.hpp"

namespace wireproof::witness {

class DeviceCounters {
 public:
  explicit DeviceCounters(bool allow_netlink = true) : allow_netlink_(allow_netlink) {}

  // Fills `snapshot`; returns the interfaces seen.
  std::vector<std::string> read(NameTable& names, Snapshot& snapshot);

  // "netlink", or "proc" if netlink was denied.
  std::string_view source() const { return allow_netlink_ ? "netlink" : "proc"; }

 private:
  std::vector<std::string> read_proc(NameTable& names, Snapshot& snapshot);
  const std::vector<std::size_t>& indices(NameTable& names, const std::string& interface);

  NetworkDeviceTable table_;
  bool allow_netlink_;
  std::unordered_map<std::string, std::vector<std::size_t>> indices_;
};

// Text of /proc/net/dev. Only columns that are one statistic each are used (rx "drop" adds
// rx_missed_errors, "frame" adds four counters), so that every name has the same meaning for each
// source.
std::vector<std::string> parse_proc_net_dev(std::string_view text, NameTable& names,
                                            Snapshot& snapshot);

}  // namespace wireproof::witness
