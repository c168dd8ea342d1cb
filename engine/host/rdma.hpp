// The RDMA devices of a machine, and the network interfaces of their ports.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

struct RdmaPort {
  Rdma rdma;
  std::set<std::string> interfaces;  // the interface that its GID table names
  bool taken = false;                // an interface has it
};

struct RdmaDevice {
  std::string name;
  std::string folder;  // in sysfs
  std::string driver;
  std::string parent;  // of a software device: the interface that it reports as its parent
  std::string system_guid;
  std::string node_guid;
  bool software = false;
  std::vector<RdmaPort> ports;
};

/// Read once; then each interface takes its port, and each remaining port becomes a separate
/// interface in the list.
class RdmaTable {
 public:
  explicit RdmaTable(const Tree& tree);

  bool empty() const { return devices_.empty(); }
  /// Gives `nic` its port: the port whose GID table names it; otherwise the port of the PCI device
  /// that both share (port = dev_port + 1, as IPoIB and mlx number them); otherwise the port of a
  /// software device on it. An interface above other interfaces has only the port whose GID table
  /// names it, or none.
  void give_port(Nic& nic);
  /// Ports without an interface, each as `device:port`.
  std::vector<Nic> others() const;

 private:
  RdmaPort* named_by_gids(const std::string& interface);
  RdmaPort* of_same_device(const std::string& interface);
  RdmaPort* of_software(const Nic& nic);

  RdmaDevice* find(const std::string& name);
  RdmaDevice* first_of(const std::vector<std::string>& names);

  const Tree& tree_;
  std::vector<RdmaDevice> devices_;
};

}  // namespace wireproof::host
