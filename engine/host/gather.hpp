// Describes this rank's host: the content of the `host` frame that does not depend on the MPI
// library.
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
  std::string kernel_boot_id;  // of the kernel that runs this process, whichever tree is read
  std::uint64_t shm_device =
      0;  // device number of /dev/shm: equal numbers within one boot mean the same shared memory
  int pid = 0;
  std::string cpus_allowed;          // "0-3,8"
  int cpu_count = 0;                 // online
  std::optional<int> core;           // the core of this thread at the time of the call
  std::optional<int> pinned;         // the processor that this process bound itself to
  std::optional<int> nic_numa_node;  // of the claimed NIC
  std::vector<Nic> nics;
};

/// Names, identity and interfaces come from the tree. For another machine's tree, no network data
/// of this host (addresses, netlink, ioctl) is used, and the network namespace is the number in the
/// tree's file `netns`, or unknown. Processors and this process always belong to this host.
Host gather(const Tree& tree = Tree());

/// Writes the fields of the `host` frame from `hostname` to `core`, and `nics`; the caller has
/// opened the object and adds rank, claimed host name and the library's fields.
void write_fields(JsonWriter& json, const Host& host);

/// Sorted processors that this process may use; empty if the kernel does not report them.
std::vector<int> allowed_cpus();

/// "0-3,8" from {0,1,2,3,8}; the input is sorted.
std::string fold_cpu_list(const std::vector<int>& cpus);

/// True if both ranks map the same /dev/shm: one kernel and one tmpfs. False if either rank does
/// not know.
bool share_memory(const Host& one, const Host& other);

}  // namespace wireproof::host
