#include "host/nic.hpp"

namespace wireproof::host {
namespace {

void write_list(JsonWriter& json, std::string_view name, const std::vector<std::string>& values) {
  json.key(name).begin_array();
  for (const std::string& value : values) json.value(value);
  json.end_array();
}

void write(JsonWriter& json, const Rdma& rdma) {
  json.key("rdma").begin_object().field("device", rdma.device).field("port", rdma.port);
  json.field("rate", rdma.rate).field("link_layer", rdma.link_layer).field("state", rdma.state);
  json.field("driver", rdma.driver).end_object();
}

/// Absent means unknown, because most interfaces have few of these fields.
void write_known(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.field(name, value);
}

}  // namespace

void describe_device(const Tree& tree, const std::string& folder, Nic& nic) {
  const std::string device = folder + "/device";
  // "-1" if the firmware does not report it
  if (const auto node = tree.number(device + "/numa_node"))
    nic.numa_node = static_cast<int>(*node & 0x7FFFFFFF);
  const std::string name = tree.target_name(device);
  if (is_pci_address(name)) nic.pci = name;
  nic.function = function_of(tree, device);
  nic.pcie = pcie_of(tree, device);
  nic.adapter = adapter_of(tree, device, tree.target(folder));
}

void write(JsonWriter& json, const Nic& nic) {
  json.begin_object().field("name", nic.name);
  write_list(json, "address", nic.addresses);
  json.field("driver", nic.driver).field("mtu", nic.mtu).field("speed_mbps", nic.speed_mbps);
  json.field("carrier", nic.carrier).field("operstate", nic.operstate);
  json.field("numa_node", nic.numa_node).field("pci", nic.pci).field("kind", nic.kind);
  if (nic.rdma) write(json, *nic.rdma);
  write_known(json, "mac", nic.mac);
  if (!nic.lower.empty()) write_list(json, "lower", nic.lower);
  write_known(json, "master", nic.master);
  write_known(json, "link_kind", nic.link_kind);
  write_known(json, "function", nic.function);
  if (nic.adapter.known()) write(json.key("adapter"), nic.adapter);
  write_known(json, "pcie", nic.pcie);
  write_known(json, "hidden", nic.hidden);
  json.end_object();
}

}  // namespace wireproof::host
