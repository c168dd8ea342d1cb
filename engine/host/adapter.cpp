#include "host/adapter.hpp"

#include <array>
#include <cctype>
#include <cstdio>
#include <utility>

namespace wireproof::host {
namespace {

constexpr std::size_t kConfiguration = 4096;
constexpr std::size_t kExtended = 0x100;         // extended capabilities begin here
constexpr std::uint32_t kSerialNumber = 0x0003;  // PCI Express Base 7.9.3
constexpr int kMostCapabilities = 64;

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i-- > 0;)
    word = word << 8 | static_cast<unsigned char>(bytes[at + i]);  // little-endian
  return word;
}

std::string dashed(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t number = std::uint64_t{high} << 32 | low;
  std::string text;
  for (int shift = 56; shift >= 0 && number != 0; shift -= 8) {
    char pair[4];
    std::snprintf(pair, sizeof pair, "%s%02x", text.empty() ? "" : "-",
                  static_cast<unsigned>(number >> shift & 0xFF));
    text += pair;
  }
  return text;
}

std::string serial_of(const Tree& tree, const std::string& folder) {
  const FileText file = tree.read(folder + "/config", kConfiguration);
  return file.status == ReadStatus::ok ? serial_number(file.text) : std::string();
}

/// The last PCI address among the components of a path.
std::string pci_in(std::string_view path) {
  std::string found;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (is_pci_address(part)) found = part;
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return found;
}

}  // namespace

bool is_pci_address(std::string_view text) {
  constexpr std::string_view kShape = "xxxx:xx:xx.x";
  while (text.size() > kShape.size() && std::isxdigit(static_cast<unsigned char>(text[0])) != 0)
    text.remove_prefix(1);  // a domain may have more digits
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool hexadecimal = std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
    if (kShape[i] == 'x' ? !hexadecimal : text[i] != kShape[i]) return false;
  }
  return true;
}

std::string serial_number(std::string_view configuration) {
  std::size_t at = kExtended;
  for (int i = 0; i < kMostCapabilities && at >= kExtended; ++i) {
    if (at + 12 > configuration.size()) return {};
    const std::uint32_t header = word_at(configuration, at);
    if ((header & 0xFFFF) == kSerialNumber)
      return dashed(word_at(configuration, at + 4), word_at(configuration, at + 8));
    at = header >> 20;
  }
  return {};
}

std::string known_guid(const std::string& text) {
  return text.find_first_not_of("0:x") == std::string::npos ? std::string() : text;
}

Adapter adapter_of(const Tree& tree, const std::string& folder, const std::string& device_path) {
  Adapter adapter;
  adapter.serial = serial_of(tree, folder);
  if (adapter.serial.empty()) adapter.serial = serial_of(tree, folder + "/physfn");
  const std::string function = function_of(tree, folder);
  if (function == "virtual") adapter.physical = tree.target_name(folder + "/physfn");
  if (function == "scalable") adapter.physical = pci_in(device_path);
  return adapter;
}

std::string function_of(const Tree& tree, const std::string& folder) {
  if (!tree.target(folder + "/physfn").empty()) return "virtual";
  if (tree.exists(folder + "/sriov_totalvfs")) return "physical";
  const bool auxiliary = tree.target_name(folder + "/subsystem") == "auxiliary";
  const bool scalable =
      tree.exists(folder + "/sfnum") || tree.target_name(folder).find(".sf.") != std::string::npos;
  return auxiliary && scalable ? "scalable" : "";
}

std::string pcie_of(const Tree& tree, const std::string& folder) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kGenerations = {
      {{"2.5", 1}, {"5", 2}, {"8", 3}, {"16", 4}, {"32", 5}, {"64", 6}}};
  const std::string speed = tree.line(folder + "/current_link_speed");  // "16.0 GT/s PCIe"
  const auto width = tree.number(folder + "/current_link_width");
  std::string_view rate = std::string_view(speed).substr(0, speed.find(' '));
  if (rate.ends_with(".0")) rate.remove_suffix(2);
  for (const auto& [words, generation] : kGenerations) {
    if (rate == words && width && *width >= 1 && *width <= 32)
      return "gen" + std::to_string(generation) + "x" + std::to_string(*width);
  }
  const bool has_physical = !tree.target(folder + "/physfn").empty();
  return has_physical && !folder.ends_with("/physfn") ? pcie_of(tree, folder + "/physfn") : "";
}

void write(JsonWriter& json, const Adapter& adapter) {
  const std::pair<std::string_view, const std::string*> fields[] = {
      {"system_guid", &adapter.system_guid}, {"node_guid", &adapter.node_guid},
      {"switch_id", &adapter.switch_id},     {"port_id", &adapter.port_id},
      {"serial", &adapter.serial},           {"physical", &adapter.physical}};
  json.begin_object();
  for (const auto& [name, value] : fields) {
    if (!value->empty()) json.field(name, *value);
  }
  json.end_object();
}

}  // namespace wireproof::host
