#include "facts/interfaces.hpp"

#include <fnmatch.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"
#include "base/network_devices.hpp"
#include "host/nics.hpp"

namespace wireproof::facts {
namespace {

constexpr std::string_view kFolder = "/sys/class/net/";
constexpr std::string_view kWhy = "/sys shows another network namespace";

// The caller's interfaces, for a /sys that shows those of another namespace; read once, because a
// process stays in its namespace.
const std::optional<std::vector<NetworkDevice>>& hidden_devices() {
  static const auto found = [] {
    auto devices = NetworkDeviceTable().read();
    if (devices && sysfs_shows(Tree(), *devices)) devices.reset();
    return devices;
  }();
  return found;
}

std::map<std::string, std::string> texts_of(const NetworkDevice& device) {
  std::map<std::string, std::string> texts = {
      {"address", device.mac},
      {"ifindex", std::to_string(device.index)},
      {"operstate", device.operstate},
      {"type", std::to_string(device.hardware_type)},
  };
  if (device.mtu) texts["mtu"] = std::to_string(*device.mtu);
  if (device.carrier) texts["carrier"] = *device.carrier ? "1" : "0";
  for (std::size_t at = 0; at < device.statistic_count; ++at)
    texts["statistics/" + std::string(kDeviceStatistics[at])] =
        std::to_string(device.statistics[at]);
  return texts;
}

Fact answer(const FactRequest& request, Status status) {
  Fact fact;
  fact.kind = request.kind;
  fact.path = request.path;
  fact.status = status;
  if (status == Status::failed) fact.reason = kWhy;
  return fact;
}

}  // namespace

Fact read_interfaces(const Tree& tree) {
  Fact fact;
  fact.path = kInterfaces;
  fact.status = Status::ok;
  JsonWriter json;
  json.begin_array();
  for (const host::Nic& nic : host::list_nics(tree)) write(json, nic);
  fact.text = json.end_array().take();
  return fact;
}

bool shows_others(const Tree& tree, const FactRequest& request) {
  return tree.live() && request.path.starts_with(kFolder) && hidden_devices().has_value();
}

std::vector<Fact> from_kernel(const FactRequest& request) {
  std::vector<Fact> found;
  for (const NetworkDevice& device : *hidden_devices()) {
    const std::string base = std::string(kFolder) + device.name + "/";
    for (const auto& [place, text] : texts_of(device)) {
      if (::fnmatch(request.path.c_str(), (base + place).c_str(), FNM_PATHNAME) != 0) continue;
      Fact& fact = found.emplace_back();
      fact.path = base + place;
      fact.status = Status::ok;
      fact.text = text;
    }
  }
  if (found.empty()) return {answer(request, Status::failed)};
  if (request.kind == FactRequest::Kind::file) return {found.front()};
  Fact listing = answer(request, Status::ok);
  for (const Fact& fact : found) listing.text += fact.path + "\n";
  found.insert(found.begin(), std::move(listing));
  return found;
}

}  // namespace wireproof::facts
