// ethtool/<interface>/<string>: the driver's statistics, by the SIOCETHTOOL ioctl. Needs no
// privilege.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "witness/snapshot.hpp"

namespace wireproof::witness {

// Sends one ethtool request (a struct ethtool_*) to one interface: 0, or -1. Tests provide a fake
// driver.
using EthtoolCall = std::function<int(const std::string& interface, void* request)>;

// The real call, on a datagram socket that is created here and stays in the current network
// namespace.
EthtoolCall kernel_ethtool();

class EthtoolCounters {
 public:
  explicit EthtoolCounters(EthtoolCall call) : call_(std::move(call)) {}

  void read(const std::vector<std::string>& interfaces, NameTable& names, Snapshot& snapshot);

 private:
  struct Strings {
    std::uint32_t count = 0;
    std::vector<std::size_t> indices;
  };

  std::uint32_t count_statistics(const std::string& interface);
  bool learn_names(const std::string& interface, std::uint32_t count, NameTable& names);
  bool read_values(const std::string& interface, const Strings& strings, Snapshot& snapshot);

  EthtoolCall call_;
  std::unordered_map<std::string, Strings> strings_;
  // 8-byte units, because the values in a reply must be aligned
  std::vector<std::uint64_t> buffer_;
};

}  // namespace wireproof::witness
