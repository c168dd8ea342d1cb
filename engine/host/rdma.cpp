#include "host/rdma.hpp"

#include <algorithm>
#include <charconv>

#include "host/stack.hpp"

namespace wireproof::host {
namespace {

constexpr const char* kDevices = "sys/class/infiniband";
constexpr std::size_t kMostDevices = 1024;
constexpr std::size_t kMostPorts = 256;
constexpr std::size_t kMostGids = 512;  // a table has up to 256 entries

RdmaPort read_port(const Tree& tree, const RdmaDevice& device, int number) {
  const std::string folder = device.folder + "/ports/" + std::to_string(number);
  RdmaPort port;
  port.rdma = {.device = device.name,
               .port = number,
               .rate = tree.line(folder + "/rate"),
               .link_layer = tree.line(folder + "/link_layer"),
               .state = tree.line(folder + "/state"),
               .driver = device.driver};
  auto entries = tree.list(folder + "/gid_attrs/ndevs");
  entries.resize(std::min(entries.size(), kMostGids));
  for (const std::string& entry : entries) {
    const std::string interface = tree.line(folder + "/gid_attrs/ndevs/" + entry);
    if (!interface.empty()) port.interfaces.insert(interface);
  }
  return port;
}

/// The driver of RDMA in software, according to the device's properties: soft-RoCE names its parent
/// and has rxe's counters; software iWARP describes itself or is an RNIC without hardware. Older
/// kernels put both below the adapter that they use (rxe_register_device and siw_device_create set
/// dev.parent). A name proves nothing, because users choose names.
std::string software_driver(const Tree& tree, const std::string& folder, bool on_a_bus) {
  const bool counts_as_rxe = tree.exists(folder + "/ports/1/hw_counters/rcvd_rnr_err") ||
                             tree.exists(folder + "/ports/1/hw_counters/ack_deferred");
  const bool describes_siw = tree.line(folder + "/node_desc").starts_with("Software iWARP");
  const std::string type = tree.line(folder + "/node_type");  // "1: CA", "4: RNIC"
  if (describes_siw || (!on_a_bus && type.starts_with("4"))) return "siw";
  if (counts_as_rxe || tree.exists(folder + "/parent")) return "rdma_rxe";
  return "";
}

RdmaDevice read_device(const Tree& tree, const std::string& name) {
  RdmaDevice device;
  device.name = name;
  device.folder = std::string(kDevices) + "/" + name;
  const bool on_a_bus =
      !tree.target(device.folder + "/device").empty() || tree.is_folder(device.folder + "/device");
  device.driver = software_driver(tree, device.folder, on_a_bus);
  device.software = !on_a_bus || !device.driver.empty();
  if (!device.software) device.driver = tree.target_name(device.folder + "/device/driver");
  if (device.software) device.parent = tree.line(device.folder + "/parent");
  device.system_guid = known_guid(tree.line(device.folder + "/sys_image_guid"));
  device.node_guid = known_guid(tree.line(device.folder + "/node_guid"));
  std::set<std::uint64_t> numbers;
  for (const std::string& port : tree.list(device.folder + "/ports"))
    numbers.insert(parse_unsigned(port).value_or(0));
  for (const std::uint64_t number : numbers) {
    if (number >= 1 && number <= kMostPorts)
      device.ports.push_back(read_port(tree, device, static_cast<int>(number)));
  }
  return device;
}

RdmaPort* port_of(RdmaDevice& device, int number) {
  for (RdmaPort& port : device.ports) {
    if (port.rdma.port == number) return &port;
  }
  return device.ports.size() == 1 ? &device.ports.front() : nullptr;
}

/// "0211:22ff:fe33:4455" from "00:11:22:33:44:55": the GUID that software devices derive from their
/// interface's address (RFC 4291, appendix A).
std::string guid_of(const std::string& mac) {
  constexpr std::size_t kMacText = 17;
  if (mac.size() != kMacText) return {};
  unsigned first = 0;
  const auto parsed = std::from_chars(mac.data(), mac.data() + 2, first, 16);
  if (parsed.ec != std::errc()) return {};
  constexpr std::string_view kHex = "0123456789abcdef";
  first ^= 2;
  return std::string{kHex[first >> 4], kHex[first & 15]} + mac.substr(3, 2) + ":" +
         mac.substr(6, 2) + "ff:fe" + mac.substr(9, 2) + ":" + mac.substr(12, 2) +
         mac.substr(15, 2);
}

void add_state(Nic& nic) {
  if (nic.rdma->state.empty()) return;
  const bool active = nic.rdma->state.starts_with("4");  // "4: ACTIVE"
  nic.carrier = active;
  nic.operstate = active ? "up" : "down";
}

}  // namespace

RdmaTable::RdmaTable(const Tree& tree) : tree_(tree) {
  auto names = tree.list(kDevices);
  names.resize(std::min(names.size(), kMostDevices));
  // If hardware and software devices share an interface, the hardware's port is the interface's
  // own.
  std::vector<RdmaDevice> software;
  for (const std::string& name : names) {
    RdmaDevice device = read_device(tree, name);
    (device.software ? software : devices_).push_back(std::move(device));
  }
  for (RdmaDevice& device : software) devices_.push_back(std::move(device));
}

RdmaDevice* RdmaTable::find(const std::string& name) {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const RdmaDevice& device) { return device.name == name; });
  return found == devices_.end() ? nullptr : &*found;
}

RdmaDevice* RdmaTable::first_of(const std::vector<std::string>& names) {
  for (RdmaDevice& device : devices_) {  // hardware first
    if (std::find(names.begin(), names.end(), device.name) != names.end()) return &device;
  }
  return nullptr;
}

RdmaPort* RdmaTable::named_by_gids(const std::string& interface) {
  for (RdmaDevice& device : devices_) {
    for (RdmaPort& port : device.ports) {
      if (port.interfaces.contains(interface)) return &port;
    }
  }
  return nullptr;
}

RdmaPort* RdmaTable::of_same_device(const std::string& interface) {
  const std::string net = "sys/class/net/" + interface;
  if (is_representor(tree_, interface)) return nullptr;
  RdmaDevice* const device = first_of(tree_.list(net + "/device/infiniband"));
  // dev_port counts from 0; drivers older than Linux 3.15 used dev_id, which is hexadecimal and is
  // 0 for port 1.
  const std::uint64_t port = tree_.number(net + "/dev_port").value_or(0);
  return device == nullptr || port >= kMostPorts ? nullptr
                                                 : port_of(*device, static_cast<int>(port) + 1);
}

RdmaPort* RdmaTable::of_software(const Nic& nic) {
  const std::string guid = guid_of(nic.mac);
  for (RdmaDevice& device : devices_) {
    if (!device.software || device.ports.empty()) continue;
    const bool stands_on_it = device.parent.empty() ? !guid.empty() && device.node_guid == guid
                                                    : device.parent == nic.name;
    if (stands_on_it && device.ports.front().interfaces.empty()) return &device.ports.front();
  }
  return nullptr;
}

void RdmaTable::give_port(Nic& nic) {
  RdmaPort* port = named_by_gids(nic.name);
  if (port == nullptr) port = of_same_device(nic.name);
  if (port == nullptr && nic.lower.empty()) port = of_software(nic);
  if (port == nullptr) return;
  port->taken = true;
  nic.rdma = port->rdma;
  const RdmaDevice* const device = find(port->rdma.device);
  nic.adapter.system_guid = device->system_guid;
  nic.adapter.node_guid = device->node_guid;
}

std::vector<Nic> RdmaTable::others() const {
  std::vector<Nic> nics;
  for (const RdmaDevice& device : devices_) {
    for (const RdmaPort& port : device.ports) {
      if (port.taken) continue;
      Nic nic;
      nic.name = device.name + ":" + std::to_string(port.rdma.port);
      nic.driver = device.driver;
      nic.kind = "infiniband";
      nic.rdma = port.rdma;
      // Software RDMA on an interface whose own port is hardware.
      nic.lower.assign(port.interfaces.begin(), port.interfaces.end());
      if (!device.software) nic.lower.clear();
      if (nic.lower.empty() && !device.parent.empty()) nic.lower = {device.parent};
      add_state(nic);
      describe_device(tree_, device.folder, nic);
      nic.adapter.system_guid = device.system_guid;
      nic.adapter.node_guid = device.node_guid;
      nics.push_back(std::move(nic));
    }
  }
  return nics;
}

}  // namespace wireproof::host
