// The parts of a lab node, and how a process enters it.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "system.hpp"

namespace wireproof {

// One node as given on the command line: "NAME=net,uts,ipc,mount,pid,shm". Namespaces that are not
// listed are shared with the other nodes: a node with false isolation is a test case. "shm" is a
// private /dev/shm, not a namespace.
struct NodeSpec {
  std::string name;
  std::set<std::string> own;

  bool owns(const std::string& kind) const { return own.contains(kind); }
};

// Throws Failure that describes the error in the text.
NodeSpec parse_node(std::string_view text);

// Calls fork() into new namespaces of the kinds that the node owns. Returns as fork does; the child
// is pid 1 if "pid" is owned.
pid_t clone_into(const NodeSpec& node);

// Run in the new process: host name, /proc, /sys, /dev/shm, hosts file, loopback. Throws Failure.
void furnish(const NodeSpec& node, const std::string& hosts_file);

// Maps the caller's user and group to root in a new user namespace. Throws Failure.
void become_namespace_root();

// The namespaces of a process that differ from the caller's, ready to be entered.
class Door {
 public:
  explicit Door(pid_t pid);
  void open_pid_namespace() const;  // affects the children that the caller forks afterwards
  void enter() const;               // all others, for the caller itself

 private:
  struct Leaf {
    int type;
    Fd descriptor;
  };
  std::vector<Leaf> leaves_;
};

}  // namespace wireproof
