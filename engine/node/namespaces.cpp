#include "namespaces.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace wireproof {
namespace {

struct Kind {
  const char* name;       // in a node's specification
  const char* proc_name;  // below /proc/PID/ns
  int flag;
};

constexpr std::array kKinds = {
    Kind{"net", "net", CLONE_NEWNET},  Kind{"uts", "uts", CLONE_NEWUTS},
    Kind{"ipc", "ipc", CLONE_NEWIPC},  Kind{"pid", "pid", CLONE_NEWPID},
    Kind{"mount", "mnt", CLONE_NEWNS},
};

void mount_or_fail(const char* source, const std::string& target, const char* type,
                   unsigned long flags, const char* data) {
  if (mount(source, target.c_str(), type, flags, data) != 0) {
    fail_errno(std::string("mount ") + type + " on " + target);
  }
}

// A machine without /etc/hosts (a bare debootstrap) has no file to mount over, and must not be
// changed: the node gets an /etc with links to the real one, plus this file.
void mount_etc_of_links(const std::string& hosts_file) {
  const std::string shelf = hosts_file.substr(0, hosts_file.rfind('/')) + "/etc";
  if (mkdir(shelf.c_str(), 0755) != 0 && errno != EEXIST) fail_errno("mkdir " + shelf);
  mount_or_fail("/etc", shelf, "bind", MS_BIND | MS_REC, nullptr);
  mount_or_fail("etc", "/etc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(shelf.c_str()), closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == "hosts") continue;
    if (symlink((shelf + "/" + name).c_str(), ("/etc/" + name).c_str()) != 0) {
      fail_errno("link /etc/" + name);
    }
  }
  const Fd empty(open("/etc/hosts", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  mount_or_fail(hosts_file.c_str(), "/etc/hosts", "bind", MS_BIND, nullptr);
}

void mount_hosts(const std::string& hosts_file) {
  if (access("/etc/hosts", F_OK) != 0) return mount_etc_of_links(hosts_file);
  mount_or_fail(hosts_file.c_str(), "/etc/hosts", "bind", MS_BIND, nullptr);
}

void furnish_mounts(const NodeSpec& node, const std::string& hosts_file) {
  mount_or_fail("none", "/", "private propagation", MS_REC | MS_PRIVATE, nullptr);
  constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (node.owns("pid")) mount_or_fail("proc", "/proc", "proc", kPlain, nullptr);
  // Without a separate sysfs, a process sees the NICs and counters of the namespace that mounted
  // /sys.
  mount_or_fail("sysfs", "/sys", "sysfs", kPlain, nullptr);
  if (node.owns("shm"))
    mount_or_fail("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  mount_hosts(hosts_file);
}

void raise_loopback() {
  const Fd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  if (!socket_fd.is_open() || ioctl(socket_fd.get(), SIOCGIFFLAGS, &request) != 0) {
    fail_errno("read the flags of lo");
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0) fail_errno("set lo up");
}

// Neighbour discovery would send a kilobyte a minute over every link; the counters are more
// convincing on a silent link.
void silence_ipv6() {
  for (const char* which : {"all", "default"}) {
    const std::string path = std::string("/proc/sys/net/ipv6/conf/") + which + "/disable_ipv6";
    if (access(path.c_str(), W_OK) == 0) write_file(path, "1");
  }
}

}  // namespace

NodeSpec parse_node(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw Failure("--node takes NAME=net,uts,ipc,mount,pid,shm, not '" + std::string(text) + "'");
  }
  NodeSpec node{std::string(text.substr(0, equals)), {}};
  std::string_view rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string kind(rest.substr(0, comma));
    bool known = kind == "shm";
    for (const Kind& one : kKinds) known = known || kind == one.name;
    if (!known) throw Failure("node " + node.name + ": there is no namespace '" + kind + "'");
    node.own.insert(kind);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return node;
}

pid_t clone_into(const NodeSpec& node) {
  unsigned long flags = SIGCHLD;
  for (const Kind& kind : kKinds) {
    if (node.owns(kind.name)) flags |= static_cast<unsigned long>(kind.flag);
  }
  // The raw call without a new stack is fork() with flags, and the child itself is pid 1, with no
  // process in between.
  const auto pid =
      static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
  if (pid < 0) fail_errno("clone into new namespaces of node " + node.name);
  return pid;
}

void furnish(const NodeSpec& node, const std::string& hosts_file) {
  if (node.owns("uts") && sethostname(node.name.data(), node.name.size()) != 0) {
    fail_errno("sethostname");
  }
  if (node.owns("mount")) furnish_mounts(node, hosts_file);
  if (node.owns("net")) {
    silence_ipv6();
    raise_loopback();
  }
}

void become_namespace_root() {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER) != 0) fail_errno("create a user namespace");
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", "0 " + user + " 1\n");
  write_file("/proc/self/gid_map", "0 " + group + " 1\n");
}

Door::Door(pid_t pid) {
  for (const Kind& kind : kKinds) {
    const std::string tail = std::string("/ns/") + kind.proc_name;
    struct stat theirs = {};
    struct stat ours = {};
    Fd descriptor(open(("/proc/" + std::to_string(pid) + tail).c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.is_open() || fstat(descriptor.get(), &theirs) != 0) fail_errno("open " + tail);
    if (stat(("/proc/self" + tail).c_str(), &ours) != 0) fail_errno("stat " + tail);
    if (theirs.st_ino != ours.st_ino) leaves_.push_back({kind.flag, std::move(descriptor)});
  }
}

void Door::open_pid_namespace() const {
  for (const Leaf& leaf : leaves_) {
    if (leaf.type == CLONE_NEWPID && setns(leaf.descriptor.get(), leaf.type) != 0) {
      fail_errno("enter the pid namespace");
    }
  }
}

void Door::enter() const {
  for (const Leaf& leaf : leaves_) {
    if (leaf.type != CLONE_NEWPID && setns(leaf.descriptor.get(), leaf.type) != 0) {
      fail_errno("enter a namespace");
    }
  }
}

}  // namespace wireproof
