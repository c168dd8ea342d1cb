#include "host/stack.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/text_split.hpp"

namespace wireproof::host {
namespace {

constexpr std::string_view kLower = "lower_";
constexpr std::size_t kLongestEvent = 4096;

void add(std::vector<std::string>& names, std::string_view name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    names.emplace_back(name);
}

/// The kernel's word in the device's uevent: bond, bridge, vlan, macvlan, vxlan ..
std::string device_type(const Tree& tree, const std::string& base) {
  const FileText event = tree.read(base + "/uevent", kLongestEvent);
  std::string_view text = event.text;
  while (const auto line = take_line(text)) {
    constexpr std::string_view kKey = "DEVTYPE=";
    if (line->starts_with(kKey)) return std::string(line->substr(kKey.size()));
  }
  return "";
}

/// Recognises kinds that are not in the uevent by files that only they have.
std::string kind_by_files(const Tree& tree, const std::string& base, const Nic& nic) {
  if (tree.is_folder(base + "/bonding")) return "bond";
  if (tree.is_folder(base + "/bridge")) return "bridge";
  if (tree.exists(base + "/tun_flags")) return "tun";
  if (nic.kind == "infiniband") return tree.exists(base + "/parent") ? "ipoib" : "";
  const auto own = tree.number(base + "/ifindex");
  const auto other = tree.number(base + "/iflink");
  const bool has_twin = own && other && *own != *other && nic.lower.empty();
  return nic.kind == "virtual" && has_twin ? "veth" : "";
}

}  // namespace

bool is_representor(const Tree& tree, const std::string& interface) {
  const std::string name = tree.line("sys/class/net/" + interface + "/phys_port_name");
  return name.find("pf") != std::string::npos;  // the names of a port are p0, p0s1
}

void stack_from_tree(const Tree& tree, Nic& nic) {
  const std::string base = "sys/class/net/" + nic.name;
  for (const std::string& entry : tree.list(base)) {
    if (entry.starts_with(kLower)) add(nic.lower, std::string_view(entry).substr(kLower.size()));
  }
  const std::string members = tree.line(base + "/bonding/slaves");
  for (std::string_view rest = members, name = take_word(rest); !name.empty();
       name = take_word(rest))
    add(nic.lower, name);
  for (const std::string& port : tree.list(base + "/brif")) add(nic.lower, port);
  if (nic.kind == "infiniband") add(nic.lower, tree.line(base + "/parent"));
  nic.master = tree.target_name(base + "/master");
  nic.link_kind = device_type(tree, base);
  if (nic.link_kind.empty()) nic.link_kind = kind_by_files(tree, base, nic);
  if (!is_representor(tree, nic.name)) return;
  nic.kind = "virtual";
  nic.link_kind = "representor";
}

void stack_from_kernel(const std::vector<NetworkDevice>& devices, std::vector<Nic>& nics) {
  std::unordered_map<int, std::size_t> places;
  for (std::size_t i = 0; i < devices.size(); ++i) places.emplace(devices[i].index, i);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].kind.empty()) nics[i].link_kind = devices[i].kind;
    if (const auto lower = places.find(devices[i].lower); lower != places.end())
      add(nics[i].lower, devices[lower->second].name);
    const auto master = places.find(devices[i].master);
    if (master == places.end()) continue;
    nics[i].master = devices[master->second].name;
    add(nics[master->second].lower, devices[i].name);
  }
}

}  // namespace wireproof::host
