// What this rank's host is: the content of the `host` frame, as far as it does not depend on the
// MPI library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "host/nics.hpp"

namespace wireproof::host {

struct Host {
  std::string hostname;
  std::string boot_id;      // "" = unknown
  std::string machine_id;   // "" = unknown
  std::uint64_t netns = 0;  // inode numbers; 0 = unknown
  std::uint64_t ipcns = 0;
  std::uint64_t pidns = 0;
  std::string kernel_boot_id;  // of the kernel that runs us, whatever tree is read
  std::uint64_t shm_device =
      0;  // device number of /dev/shm: equal numbers of one boot are one shared memory
  int pid = 0;
  std::string cpus_allowed;          // "0-3,8"
  int cpu_count = 0;                 // online
  std::optional<int> core;           // where this thread was when asked
  std::optional<int> pinned;         // the processor that we bound ourselves to
  std::optional<int> nic_numa_node;  // of the claimed NIC
  std::vector<Nic> nics;
};

/// Names, identity and interfaces come from the tree; of another machine's tree nothing of this
/// host's network (addresses, netlink, ioctl) is mixed into it, and its network namespace is the
/// number in its file `netns`, else unknown. Processors and this process are always this host's.
Host gather(const Tree& tree = Tree());

/// The fields of the `host` frame from `hostname` to `core`, and `nics`; the caller has opened the
/// object and adds rank, claimed host name and the library's fields.
void write_fields(JsonWriter& json, const Host& host);

/// Processors that this process may use, sorted; empty when the kernel does not say.
std::vector<int> allowed_cpus();

/// "0-3,8" from {0,1,2,3,8}; the input is sorted.
std::string fold_cpu_list(const std::vector<int>& cpus);

/// True when both ranks map the same /dev/shm: one kernel and one tmpfs. False when either does not
/// know.
bool share_memory(const Host& one, const Host& other);

}  // namespace wireproof::host
