#include "host/pin.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace wireproof::host {
namespace {

constexpr int kMostCpus = 1 << 18;

std::optional<int> read_small(const Tree& tree, const std::string& path) {
  const auto value = tree.number(path);
  return value && *value < kMostCpus ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

std::string device_of(const Tree& tree, const std::string& nic) {
  std::string net = "sys/class/net/" + nic + "/device";
  if (tree.is_folder(net)) return net;
  return "sys/class/infiniband/" + nic.substr(0, nic.find(':')) + "/device";
}

std::string topology_of(int cpu) {
  return "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
}

bool spans_sockets(const Tree& tree, const std::vector<int>& cpus) {
  std::set<int> sockets;
  for (const int cpu : cpus) {
    if (const auto id = read_small(tree, topology_of(cpu) + "physical_package_id")) {
      sockets.insert(*id);
    }
  }
  return sockets.size() > 1;
}

std::vector<int> siblings_of(const Tree& tree, int cpu) {
  auto found = unfold_cpu_list(tree.line(topology_of(cpu) + "thread_siblings_list"));
  if (found.empty()) found.push_back(cpu);
  return found;
}

bool contains(const std::vector<int>& cpus, int cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

std::vector<int> both(const std::vector<int>& one, const std::vector<int>& other) {
  const std::set<int> members(other.begin(), other.end());
  std::vector<int> found;
  for (const int cpu : one) {
    if (members.contains(cpu)) found.push_back(cpu);
  }
  return found;
}

/// One thread of each core comes first, then the others.
std::vector<int> cores_first(const Tree& tree, const std::vector<int>& cpus) {
  std::vector<int> firsts;
  std::vector<int> seconds;
  std::set<int> taken;
  for (const int cpu : cpus) {
    (taken.contains(cpu) ? seconds : firsts).push_back(cpu);
    for (const int sibling : siblings_of(tree, cpu)) taken.insert(sibling);
  }
  firsts.insert(firsts.end(), seconds.begin(), seconds.end());
  return firsts;
}

}  // namespace

std::vector<int> unfold_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0;
    auto result = std::from_chars(at, end, first);
    if (result.ec != std::errc() || first < 0 || first >= kMostCpus) return cpus;
    int last = first;
    if (result.ptr < end && *result.ptr == '-') {
      result = std::from_chars(result.ptr + 1, end, last);
      if (result.ec != std::errc() || last < first || last >= kMostCpus) return cpus;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (result.ptr < end && *result.ptr != ',') return cpus;
    at = result.ptr + 1;
  }
  return cpus;
}

Pin choose_pin(const Tree& tree, const std::string& nic, const std::vector<int>& allowed,
               int ordinal) {
  Pin pin;
  if (nic.empty() || nic.find('/') != std::string::npos) return pin;
  const std::string device = device_of(tree, nic);
  // "-1" if the firmware does not report it
  pin.numa_node = read_small(tree, device + "/numa_node");
  if (!pin.numa_node || ordinal < 0 || !spans_sockets(tree, allowed)) return pin;
  const std::string node = "sys/devices/system/node/node" + std::to_string(*pin.numa_node);
  std::vector<int> near = unfold_cpu_list(tree.line(node + "/cpulist"));
  if (near.empty()) near = unfold_cpu_list(tree.line(device + "/local_cpulist"));
  std::vector<int> candidates = both(allowed, near);
  std::vector<int> others = candidates;
  const std::vector<int> first_core = siblings_of(tree, 0);
  std::erase_if(others, [&](int cpu) { return contains(first_core, cpu); });
  if (!others.empty()) candidates = others;
  if (candidates.empty()) return pin;
  candidates = cores_first(tree, candidates);
  pin.core = candidates[static_cast<std::size_t>(ordinal) % candidates.size()];
  return pin;
}

bool bind_to(int core) {
  const std::size_t count = static_cast<std::size_t>(core) + 1;
  cpu_set_t* const set = CPU_ALLOC(count);
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(core), bytes, set);
  const bool good = ::sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return good;
}

}  // namespace wireproof::host
