#include "facts/pci.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/json_writer.hpp"

namespace wireproof::facts {
namespace {

constexpr std::size_t kMostDevices = 4096;
constexpr std::uint64_t kMostNodes = 4096;
constexpr std::size_t kHeader = 64;  // readable by every user
constexpr std::size_t kSpace = 256;
constexpr unsigned kFirstExtended = 0x100;
constexpr unsigned kEndExtended = 0x1000;
constexpr unsigned kExpress = 0x10;          // capability
constexpr unsigned kAccessControl = 0x000D;  // extended capability
constexpr int kMostCapabilities = 48;        // a cycle in the list would never end

/// The configuration space of one device, little-endian.
class Space {
 public:
  explicit Space(Descriptor file) : file_(std::move(file)) {
    if (file_) size_ = std::max<ssize_t>(0, ::pread(file_.number(), bytes_.data(), kSpace, 0));
  }
  std::size_t size() const { return static_cast<std::size_t>(size_); }
  unsigned byte(unsigned at) const { return at < size() ? bytes_[at] : 0; }
  unsigned word(unsigned at) const { return byte(at) | byte(at + 1) << 8U; }
  std::uint32_t extended(unsigned at) const {
    std::array<std::uint8_t, 4> b{};
    if (::pread(file_.number(), b.data(), b.size(), at) != 4) return 0;
    return b[0] | b[1] << 8U | b[2] << 16U | static_cast<std::uint32_t>(b[3]) << 24U;
  }

  bool is_bridge() const { return (byte(0x0E) & 0x7FU) == 1; }
  /// Offset of the PCI Express capability; 0 if there is none.
  unsigned express() const {
    constexpr unsigned kHasCapabilities = 0x10;
    unsigned at = (word(0x06) & kHasCapabilities) != 0 ? byte(0x34) & 0xFCU : 0;
    for (int steps = 0; at >= kHeader && steps < kMostCapabilities; ++steps) {
      if (byte(at) == kExpress) return at;
      at = byte(at + 1) & 0xFCU;
    }
    return 0;
  }
  /// Control bits of Access Control Services.
  std::optional<unsigned> access_control() const {
    unsigned at = kFirstExtended;
    for (int steps = 0; at >= kFirstExtended && at + 8 <= kEndExtended && steps < kMostCapabilities;
         ++steps) {
      const std::uint32_t header = extended(at);
      if (header == 0 || header == UINT32_MAX) return std::nullopt;
      if ((header & 0xFFFFU) == kAccessControl) return extended(at + 4) >> 16U;
      at = header >> 20U & 0xFFCU;
    }
    return std::nullopt;
  }

 private:
  Descriptor file_;
  std::array<std::uint8_t, kSpace> bytes_{};
  ssize_t size_ = 0;
};

/// Bridges, network and InfiniBand adapters, displays and accelerators.
bool counts(std::string_view device_class) {
  return device_class.starts_with("0604") || device_class.starts_with("02") ||
         device_class.starts_with("03") || device_class.starts_with("12") ||
         device_class.starts_with("0c06");
}

/// 128 to 4096 bytes.
std::optional<int> bytes_of(unsigned code) {
  return code <= 5 ? std::optional<int>(128 << code) : std::nullopt;
}

void write_link(JsonWriter& json, std::string_view width, std::string_view speed, unsigned link) {
  json.field(width, link >> 4U & 0x3FU).field(speed, link & 0xFU);
}

void write_express(JsonWriter& json, const Space& space, unsigned at) {
  const unsigned control = space.word(at + 8);
  json.field("type", space.word(at + 2) >> 4U & 0xFU);
  json.field("payload", bytes_of(control >> 5U & 7U));
  json.field("payload_most", bytes_of(space.word(at + 4) & 7U));
  json.field("read_request", bytes_of(control >> 12U & 7U));
  json.field("relaxed", (control & 0x10U) != 0);
  write_link(json, "width", "speed", space.word(at + 0x12));
  write_link(json, "width_most", "speed_most", space.word(at + 0x0C));
}

std::string driver_of(const Tree& tree, const std::string& folder) {
  std::string driver = tree.target_name(folder + "/driver");
  if (!driver.empty()) return driver;
  const std::string event = "\n" + tree.read(folder + "/uevent", 4096).text;
  constexpr std::string_view kKey = "\nDRIVER=";
  const std::size_t at = event.find(kKey);
  if (at == std::string::npos) return "";
  const std::size_t start = at + kKey.size();
  return event.substr(start, event.find('\n', start) - start);
}

void write_device(JsonWriter& json, const Tree& tree, const std::string& address,
                  std::string_view device_class) {
  const std::string folder = "sys/bus/pci/devices/" + address;
  const Space space(tree.open(folder + "/config", O_RDONLY));
  json.begin_object().field("address", address).field("class", device_class);
  json.field("driver", driver_of(tree, folder));
  if (const auto node = tree.number(folder + "/numa_node"); node && *node < kMostNodes)
    json.field("numa", *node);
  if (space.size() >= kHeader && space.is_bridge()) json.field("secondary", space.byte(0x19));
  if (space.size() <= kHeader) {
    json.field("closed", true).end_object();
    return;
  }
  if (const unsigned at = space.express(); at != 0) write_express(json, space, at);
  if (const auto acs = space.access_control()) json.field("acs", *acs);
  json.end_object();
}

}  // namespace

Fact read_pci(const Tree& tree) {
  Fact fact;
  fact.path = kPci;
  const auto addresses = tree.list("sys/bus/pci/devices");
  fact.status = addresses.empty() ? Status::missing : Status::ok;
  if (addresses.empty()) {
    fact.reason = "/sys/bus/pci/devices lists nothing";
    return fact;
  }
  JsonWriter json;
  json.begin_array();
  std::size_t left = kMostDevices;
  for (const std::string& address : addresses) {
    std::string device_class = tree.line("sys/bus/pci/devices/" + address + "/class");
    if (device_class.starts_with("0x")) device_class.erase(0, 2);
    if (!counts(device_class)) continue;
    if (left-- == 0) break;
    write_device(json, tree, address, device_class);
  }
  fact.text = json.end_array().take();
  return fact;
}

}  // namespace wireproof::facts
