// One network interface, or an RDMA port without one: the `nics` of the host frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "base/tree.hpp"
#include "host/adapter.hpp"

namespace wireproof::host {

struct Rdma {
  std::string device;
  int port = 1;
  std::string rate{};        // "100 Gb/sec (4X EDR)", in the kernel's words
  std::string link_layer{};  // "InfiniBand", "Ethernet"
  std::string state{};       // "4: ACTIVE"
  std::string driver{};      // of the device
};

struct Nic {
  std::string name;
  std::vector<std::string> addresses;  // numeric, without prefix length or scope
  std::string driver;
  std::optional<int> mtu;
  std::optional<std::int64_t>
      speed_mbps;  // the rate that the driver claims: veth claims 10000 even if it is shaped
  std::optional<bool> carrier;
  std::string operstate;
  std::optional<int> numa_node;
  std::string pci;
  std::string kind;  // "ethernet", "infiniband", "loopback" or "virtual"
  std::optional<Rdma> rdma;
  std::string mac;
  std::vector<std::string> lower;  // interfaces below it
  std::string master;              // the interface that it is a member of
  std::string link_kind;           // the kernel's name for a virtual kind: vlan, bond, veth ..
  std::string function;            // "physical", "virtual" or "scalable"; "" if unknown
  Adapter adapter;
  std::string pcie;    // "gen4x16"
  std::string hidden;  // why a part of its sysfs could not be read
};

/// Reads NUMA node, PCI address, slot and adapter from the sysfs folder of a device,
/// `folder`/device.
void describe_device(const Tree& tree, const std::string& folder, Nic& nic);

void write(JsonWriter& json, const Nic& nic);

}  // namespace wireproof::host
