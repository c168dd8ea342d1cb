// The hardware behind a port: the adapter that it is a function of, and the negotiated slot.
#pragma once

#include <string>

#include "base/json_writer.hpp"
#include "base/tree.hpp"

namespace wireproof::host {

/// "" = unknown. Ports with an equal, non-empty identity are functions of one adapter.
struct Adapter {
  std::string system_guid;  // of the RDMA device
  std::string node_guid;
  std::string switch_id;  // of the interface
  std::string port_id;
  std::string serial;    // PCI device serial number
  std::string physical;  // PCI address of a virtual function's adapter

  bool known() const {
    return !(system_guid + node_guid + switch_id + port_id + serial + physical).empty();
  }
};

/// "0000:3b:00.0"
bool is_pci_address(std::string_view text);

/// The adapter's identity from `folder`, the sysfs folder of a device (.../device); `device_path`
/// is the text of a link into it, which names the buses above it.
Adapter adapter_of(const Tree& tree, const std::string& folder, const std::string& device_path);
/// "physical", "virtual", "scalable", or "" if the adapter has no functions.
std::string function_of(const Tree& tree, const std::string& folder);
/// "gen4x16", or "" if sysfs does not show it.
std::string pcie_of(const Tree& tree, const std::string& folder);
/// "00-0a-..", from the configuration space of a PCI Express device; "" if only root may read it.
std::string serial_number(std::string_view configuration);
/// A GUID as sysfs prints it; "" for one that is all zeros.
std::string known_guid(const std::string& text);

void write(JsonWriter& json, const Adapter& adapter);

}  // namespace wireproof::host
