// `sockets`: lists the sockets that the processes of a job have open, to distinguish them from
// other jobs' sockets.
#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "commands.hpp"
#include "process_tree.hpp"
#include "system.hpp"

namespace wireproof {
namespace {

constexpr pid_t kNobody = -1;
constexpr std::string_view kSocket = "socket:[";

// A line "PID" for each process and "PID INODE" for each of its sockets; "PID ?" if the kernel
// hides them, as for another user's process.
void print_sockets(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  std::printf(open || errno != EACCES ? "%d\n" : "%d ?\n", pid);
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    char target[PATH_MAX];
    const ssize_t length = readlink((folder + entry->d_name).c_str(), target, sizeof target);
    const std::string_view text(target, length > 0 ? static_cast<std::size_t>(length) : 0);
    if (!text.starts_with(kSocket) || !text.ends_with(']')) continue;
    const std::string_view inode = text.substr(kSocket.size(), text.size() - kSocket.size() - 1);
    std::printf("%d %.*s\n", pid, static_cast<int>(inode.size()), inode.data());
  }
}

}  // namespace

int sockets(const Arguments& arguments) {
  if (arguments.size() != 1 || arguments[0].find('=') == std::string::npos)
    throw Failure("sockets NAME=VALUE");
  for (const auto& [pid, start] : ProcessTree(kNobody, arguments[0]).living()) print_sockets(pid);
  return 0;
}

}  // namespace wireproof
