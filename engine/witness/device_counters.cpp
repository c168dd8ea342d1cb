#include "witness/device_counters.hpp"

#include <array>

#include "base/bounded_file.hpp"
#include "base/text_split.hpp"

namespace wireproof::witness {
namespace {

// Columns of /proc/net/dev from the left; "" = the sum of several statistics
// (net/core/net-procfs.c).
constexpr std::array<std::string_view, 16> kProcColumns = {"rx_bytes",
                                                           "rx_packets",
                                                           "rx_errors",
                                                           "",
                                                           "rx_fifo_errors",
                                                           "",
                                                           "rx_compressed",
                                                           "multicast",
                                                           "tx_bytes",
                                                           "tx_packets",
                                                           "tx_errors",
                                                           "tx_dropped",
                                                           "tx_fifo_errors",
                                                           "collisions",
                                                           "",
                                                           "tx_compressed"};

std::string counter_name(const std::string& interface, std::string_view statistic) {
  return "net/" + interface + "/" + std::string(statistic);
}

}  // namespace

std::vector<std::string> DeviceCounters::read(NameTable& names, Snapshot& snapshot) {
  const auto devices = allow_netlink_ ? table_.read() : std::nullopt;
  if (!devices) {
    allow_netlink_ =
        // the source never changes back within a run, because a difference must compare values of
        // the same source
        false;
    return read_proc(names, snapshot);
  }
  std::vector<std::string> interfaces;
  for (const NetworkDevice& device : *devices) {
    const auto& index = indices(names, device.name);
    for (std::size_t i = 0; i < device.statistic_count; ++i)
      snapshot.set(index[i], device.statistics[i]);
    if (device.carrier_changes) snapshot.set(index.back(), *device.carrier_changes);
    interfaces.push_back(device.name);
  }
  return interfaces;
}

const std::vector<std::size_t>& DeviceCounters::indices(NameTable& names,
                                                        const std::string& interface) {
  auto& known = indices_[interface];
  if (known.empty()) {
    for (const auto statistic : kDeviceStatistics)
      known.push_back(names.index(counter_name(interface, statistic)));
    known.push_back(names.index(counter_name(interface, "carrier_changes")));
  }
  return known;
}

std::vector<std::string> DeviceCounters::read_proc(NameTable& names, Snapshot& snapshot) {
  const FileText file = read_bounded("/proc/self/net/dev", 1 << 20);
  if (file.status != ReadStatus::ok) return {};
  return parse_proc_net_dev(file.text, names, snapshot);
}

std::vector<std::string> parse_proc_net_dev(std::string_view text, NameTable& names,
                                            Snapshot& snapshot) {
  std::vector<std::string> interfaces;
  while (const auto line = take_line(text)) {
    const auto colon = line->rfind(':');  // an alias may itself contain a colon: "eth0:1"
    if (colon == std::string_view::npos) continue;
    std::string_view name = line->substr(0, colon);
    const std::string interface(take_word(name));
    std::string_view columns = line->substr(colon + 1);
    for (std::size_t i = 0; i < kProcColumns.size(); ++i) {
      const std::string_view word = take_word(columns);
      if (word.empty()) break;
      if (!kProcColumns[i].empty())
        snapshot.set(names.index(counter_name(interface, kProcColumns[i])), parse_unsigned(word));
    }
    interfaces.push_back(interface);
  }
  return interfaces;
}

}  // namespace wireproof::witness
