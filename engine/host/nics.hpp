// The network interfaces of this host: what they are, which addresses and which RDMA device they
// have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"

namespace wireproof::host {

struct Rdma {
  std::string device;
  int port = 1;
  std::string rate;        // "100 Gb/sec (4X EDR)", the kernel's words
  std::string link_layer;  // "InfiniBand", "Ethernet"
  std::string state;       // "4: ACTIVE"
};

struct Nic {
  std::string name;
  std::vector<std::string> addresses;  // numeric, without prefix length or scope
  std::string driver;
  std::optional<int> mtu;
  std::optional<std::int64_t>
      speed_mbps;  // what the driver claims: veth claims 10000 whatever shapes it
  std::optional<bool> carrier;
  std::string operstate;
  std::optional<int> numa_node;
  std::string pci;
  std::string kind;  // "ethernet", "infiniband", "loopback" or "virtual"
  std::optional<Rdma> rdma;
};

/// Interfaces sorted by index. On "/" the list, mtu, carrier and addresses are those of our own
/// network namespace (rtnetlink, getifaddrs); what only /sys knows (speed, NUMA node, PCI address,
/// RDMA device) is left out where /sys shows another namespace.
std::vector<Nic> list_nics(const std::string& root = "/");

void write(JsonWriter& json, const Nic& nic);

}  // namespace wireproof::host
