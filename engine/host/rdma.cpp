#include "host/rdma.hpp"

#include <algorithm>

#include "base/bounded_file.hpp"

namespace wireproof::host {
namespace {

constexpr std::size_t kGidsLookedAt =
    16;  // a table has up to 256; an interface's first entries are its own

int number_or(const std::string& path, int otherwise) {
  const auto value = parse_unsigned(read_line(path));
  return value && *value < 1024 ? static_cast<int>(*value) : otherwise;
}

bool gid_table_names(const std::string& port_folder, const std::string& interface) {
  const std::string folder = port_folder + "/gid_attrs/ndevs";
  for (std::size_t i = 0; i < kGidsLookedAt; ++i) {
    if (read_line(folder + "/" + std::to_string(i)) == interface) return true;
  }
  return false;
}

Rdma describe(const std::string& ports, const std::string& device, int port) {
  const std::string folder = ports + "/" + std::to_string(port);
  return {device, port, read_line(folder + "/rate"), read_line(folder + "/link_layer"),
          read_line(folder + "/state")};
}

}  // namespace

std::optional<Rdma> find_rdma(const std::string& root, const std::string& interface) {
  const std::string all = under_root(root, "sys/class/infiniband");
  const std::string net = under_root(root, "sys/class/net/" + interface);
  const std::vector<std::string> same_pci = list_directory(net + "/device/infiniband");
  if (!same_pci.empty()) {
    const std::string ports = all + "/" + same_pci.front() + "/ports";
    const std::vector<std::string> existing = list_directory(ports);
    // dev_port counts from 0; drivers older than Linux 3.15 used dev_id, which is hexadecimal and 0
    // for port 1.
    const int port = number_or(net + "/dev_port", 0) + 1;
    const bool there =
        std::find(existing.begin(), existing.end(), std::to_string(port)) != existing.end();
    return describe(ports, same_pci.front(), there ? port : 1);
  }
  for (const std::string& device : list_directory(all)) {
    const std::string ports = all + "/" + device + "/ports";
    for (const std::string& port : list_directory(ports)) {
      const auto number = parse_unsigned(port);
      if (number && gid_table_names(ports + "/" + port, interface)) {
        return describe(ports, device, static_cast<int>(*number));
      }
    }
  }
  return std::nullopt;
}

}  // namespace wireproof::host
