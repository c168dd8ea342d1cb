#include "witness/ethtool_counters.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <unordered_set>

namespace wireproof::witness {
namespace {

constexpr std::uint32_t kMaxStatistics = 1 << 16;  // a driver that claims more than this is wrong

// Kernels before 6.13 copy as many values as the driver has *now*, not as many as were requested:
// the reply buffer has room for a driver whose number of queues grows between two calls.
constexpr std::size_t kSlackValues = 8192;

}  // namespace

EthtoolCall kernel_ethtool() {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const std::shared_ptr<void> owner(nullptr, [descriptor](void*) {
    if (descriptor >= 0) ::close(descriptor);
  });
  return [descriptor, owner](const std::string& interface, void* request) {
    ifreq carrier{};
    if (interface.size() >= sizeof carrier.ifr_name) return -1;
    std::memcpy(carrier.ifr_name, interface.data(), interface.size());
    carrier.ifr_data = static_cast<char*>(request);
    return ::ioctl(descriptor, SIOCETHTOOL, &carrier);
  };
}

void EthtoolCounters::read(const std::vector<std::string>& interfaces, NameTable& names,
                           Snapshot& snapshot) {
  for (const std::string& interface : interfaces) {
    const std::uint32_t count = count_statistics(interface);
    if (count == 0 || count > kMaxStatistics) continue;
    if (strings_[interface].count != count && !learn_names(interface, count, names)) continue;
    read_values(interface, strings_[interface], snapshot);
  }
}

std::uint32_t EthtoolCounters::count_statistics(const std::string& interface) {
  alignas(ethtool_sset_info) unsigned char
      storage[sizeof(ethtool_sset_info) + sizeof(std::uint32_t)] = {};
  auto* request = reinterpret_cast<ethtool_sset_info*>(storage);
  request->cmd = ETHTOOL_GSSET_INFO;
  request->sset_mask = 1ULL << ETH_SS_STATS;
  if (call_(interface, request) != 0 || request->sset_mask == 0) return 0;
  std::uint32_t count = 0;
  std::memcpy(&count, storage + sizeof(ethtool_sset_info), sizeof count);
  return count;
}

bool EthtoolCounters::learn_names(const std::string& interface, std::uint32_t count,
                                  NameTable& names) {
  const std::size_t bytes =
      sizeof(ethtool_gstrings) + (count + kSlackValues) * std::size_t{ETH_GSTRING_LEN};
  buffer_.assign(bytes / sizeof(std::uint64_t) + 1, 0);
  auto* request = reinterpret_cast<ethtool_gstrings*>(buffer_.data());
  request->cmd = ETHTOOL_GSTRINGS;
  request->string_set = ETH_SS_STATS;
  request->len = count;
  if (call_(interface, request) != 0 || request->len != count) return false;
  Strings learned;
  std::unordered_set<std::string> seen;
  const char* text = reinterpret_cast<const char*>(buffer_.data()) + sizeof(ethtool_gstrings);
  for (std::uint32_t i = 0; i < count; ++i, text += ETH_GSTRING_LEN) {
    std::string name(text, ::strnlen(text, ETH_GSTRING_LEN));
    if (name.empty()) name = "unnamed";
    const std::string plain = name;
    for (int twin = 2; !seen.insert(name).second; ++twin) name = plain + "#" + std::to_string(twin);
    learned.indices.push_back(names.index("ethtool/" + interface + "/" + name));
  }
  learned.count = count;
  strings_[interface] = std::move(learned);
  return true;
}

bool EthtoolCounters::read_values(const std::string& interface, const Strings& strings,
                                  Snapshot& snapshot) {
  static_assert(sizeof(ethtool_stats) == sizeof(std::uint64_t));
  buffer_.assign(1 + strings.count + kSlackValues, 0);
  auto* request = reinterpret_cast<ethtool_stats*>(buffer_.data());
  request->cmd = ETHTOOL_GSTATS;
  request->n_stats = strings.count;
  if (call_(interface, request) != 0 || request->n_stats != strings.count) return false;
  for (std::uint32_t i = 0; i < strings.count; ++i)
    snapshot.set(strings.indices[i], buffer_[1 + i]);
  return true;
}

}  // namespace wireproof::witness
