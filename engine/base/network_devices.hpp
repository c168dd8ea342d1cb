// Network interfaces of the caller's own network namespace, by rtnetlink.
//
// /sys shows the namespace of the process that mounted it; a netlink socket always shows the
// caller's, with the same 64-bit statistics and one kernel call for all of them (sysfs sums the
// driver's queues anew for each of its 24 files).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"

namespace wireproof {

// In the order of struct rtnl_link_stats64; the names are those of /sys/class/net/*/statistics.
inline constexpr std::array<std::string_view, 24> kDeviceStatistics = {
    "rx_packets",        "tx_packets",        "rx_bytes",         "tx_bytes",
    "rx_errors",         "tx_errors",         "rx_dropped",       "tx_dropped",
    "multicast",         "collisions",        "rx_length_errors", "rx_over_errors",
    "rx_crc_errors",     "rx_frame_errors",   "rx_fifo_errors",   "rx_missed_errors",
    "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",   "tx_heartbeat_errors",
    "tx_window_errors",  "rx_compressed",     "tx_compressed",    "rx_nohandler"};

struct NetworkDevice {
  int index = 0;
  std::string name;
  std::string mac;  // "02:00:ab:.." as /sys/class/net/*/address prints it; "" if there is none
  std::uint16_t hardware_type = 0;  // ARPHRD_*
  std::optional<int> mtu;
  std::optional<bool> carrier;
  std::optional<int> carrier_changes;  // number of carrier changes
  std::string kind;                    // for a virtual interface: "vlan", "bond", "veth" ..
  int lower = 0;                       // index of the interface below it, 0: none in this namespace
  bool lower_elsewhere = false;        // the interface below is in another network namespace
  int master = 0;                      // index of the interface that it is a member of
  std::string operstate;               // words of /sys/class/net/*/operstate
  std::array<std::uint64_t, kDeviceStatistics.size()> statistics{};
  std::size_t statistic_count = 0;  // number of statistics that this kernel provides
};

// A netlink socket that stays open, and so stays in the network namespace in which it was created.
class NetworkDeviceTable {
 public:
  NetworkDeviceTable();
  ~NetworkDeviceTable();
  NetworkDeviceTable(const NetworkDeviceTable&) = delete;
  NetworkDeviceTable& operator=(const NetworkDeviceTable&) = delete;

  // Nothing if netlink is denied or does not answer within a second.
  std::optional<std::vector<NetworkDevice>> read();

 private:
  bool request();
  // 1 finished, 0 more to come, -1 failed, -2 the table changed under the dump.
  int receive(std::vector<NetworkDevice>& devices);

  int socket_ = -1;
  std::uint32_t sequence_ = 0;
  std::vector<char> buffer_;
};

// True if sys/class/net of `tree` lists the interfaces of `devices` with the same names, indices
// and hardware addresses. Names and indices alone do not suffice: the nodes of a virtual cluster
// all have lo, eth0, hsn0 with equal indices.
bool sysfs_shows(const Tree& tree, const std::vector<NetworkDevice>& devices);

}  // namespace wireproof
