#include "host/gather.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/bounded_file.hpp"

namespace wireproof::host {
namespace {

constexpr const char* kBootId = "proc/sys/kernel/random/boot_id";

std::uint64_t namespace_inode(const char* name) {
  struct stat info {};
  const std::string path = std::string("/proc/self/ns/") + name;
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

std::uint64_t device_of(const char* path) {
  struct stat info {};
  return ::stat(path, &info) == 0 ? static_cast<std::uint64_t>(info.st_dev) : 0;
}

std::string own_hostname() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

}  // namespace

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask that is smaller than its own, so grow it until it fits.
  for (std::size_t count = 1024; count <= (1U << 18); count *= 2) {
    cpu_set_t* set = CPU_ALLOC(count);
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(bytes, set);
    const int outcome = ::sched_getaffinity(0, bytes, set);
    const int error = errno;
    std::vector<int> cpus;
    for (std::size_t cpu = 0; outcome == 0 && cpu < count; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(static_cast<int>(cpu));
    }
    CPU_FREE(set);
    if (outcome == 0 || error != EINVAL) return cpus;
  }
  return {};
}

std::string fold_cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

Host gather(const Tree& tree) {
  Host host;
  if (!tree.live()) host.hostname = tree.line("etc/hostname");
  if (host.hostname.empty()) host.hostname = own_hostname();
  host.boot_id = tree.line(kBootId);
  host.machine_id = tree.line("etc/machine-id");
  host.netns = tree.live() ? namespace_inode("net") : tree.number("netns").value_or(0);
  host.kernel_boot_id = read_line(std::string("/") + kBootId);
  host.ipcns = namespace_inode("ipc");
  host.pidns = namespace_inode("pid");
  host.shm_device = device_of("/dev/shm");
  host.pid = ::getpid();
  host.cpus_allowed = fold_cpu_list(allowed_cpus());
  host.cpu_count = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (const int core = ::sched_getcpu(); core >= 0) host.core = core;
  host.nics = list_nics(tree);
  return host;
}

void write_fields(JsonWriter& json, const Host& host) {
  json.field("hostname", host.hostname)
      .field("boot_id", host.boot_id)
      .field("machine_id", host.machine_id);
  json.field("netns", host.netns)
      .field("ipcns", host.ipcns)
      .field("pidns", host.pidns)
      .field("pid", host.pid);
  json.field("cpus_allowed", host.cpus_allowed)
      .field("cpu_count", host.cpu_count)
      .field("core", host.core)
      .field("pinned", host.pinned)
      .field("nic_numa_node", host.nic_numa_node);
  json.key("nics").begin_array();
  for (const Nic& nic : host.nics) write(json, nic);
  json.end_array();
}

bool share_memory(const Host& one, const Host& other) {
  return !one.kernel_boot_id.empty() && one.kernel_boot_id == other.kernel_boot_id &&
         one.shm_device != 0 && one.shm_device == other.shm_device;
}

}  // namespace wireproof::host
