#include "host/hidden.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text_split.hpp"

namespace wireproof::host {
namespace {

constexpr std::size_t kLongestModules = 1 << 18;

/// Modules that create an RDMA device for hardware anywhere, and the driver of its interfaces ("":
/// there is none).
constexpr std::pair<std::string_view, std::string_view> kRdmaModules[] = {
    {"mlx5_ib", "mlx5_core"},
    {"mlx4_ib", "mlx4_"},
    {"irdma", "ice"},
    {"irdma", "i40e"},
    {"bnxt_re", "bnxt_en"},
    {"bng_re", "bng_en"},
    {"hiroce3", "hisdk3"},
    {"hiroce3", "hinic3"},
    {"qedr", "qede"},
    {"iw_cxgb4", "cxgb4"},
    {"ocrdma", "be2net"},
    {"mana_ib", "mana"},
    {"hns_roce_hw_v2", "hns3"},
    {"ionic_rdma", "ionic"},
    {"usnic_verbs", "enic"},
    {"vmw_pvrdma", "vmxnet3"},
    {"erdma", "virtio_net"},
    {"hfi1", ""},
    {"ib_qib", ""},
    {"ib_mthca", ""},
    {"efa", ""}};

bool has_rdma_node(const Tree& tree) {
  const auto nodes = tree.list("dev/infiniband");
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const std::string& node) { return node.starts_with("uverbs"); });
}

std::vector<std::string> loaded_modules(const Tree& tree) {
  const FileText modules = tree.read("proc/modules", kLongestModules);
  std::vector<std::string> names;
  std::string_view text = modules.text;
  while (const auto line = take_line(text)) {
    std::string_view rest = *line;
    names.emplace_back(take_word(rest));
  }
  return names;
}

/// The loaded module that should have created an RDMA device for this interface's adapter.
std::string_view missing_module(const std::vector<std::string>& loaded, const Nic& nic) {
  for (const auto& [module, driver] : kRdmaModules) {
    if (nic.driver.starts_with(driver) &&
        std::find(loaded.begin(), loaded.end(), module) != loaded.end())
      return module;
  }
  return "";
}

bool is_hardware(const Nic& nic) { return nic.kind == "ethernet" || nic.kind == "infiniband"; }

}  // namespace

void tell_hidden(const Tree& tree, bool rdma_seen, std::vector<Nic>& nics) {
  if (rdma_seen) return;
  const bool node = has_rdma_node(tree);
  const auto loaded = node ? std::vector<std::string>() : loaded_modules(tree);
  for (Nic& nic : nics) {
    if (nic.kind == "loopback" || !nic.hidden.empty()) continue;
    const std::string_view module = is_hardware(nic) ? missing_module(loaded, nic) : "";
    if (node) {
      nic.hidden = "/dev/infiniband is there and /sys/class/infiniband shows no device";
    } else if (!module.empty()) {
      nic.hidden.append(module).append(" is loaded and /sys/class/infiniband shows no device");
    }
  }
}

}  // namespace wireproof::host
