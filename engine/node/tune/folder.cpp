#include "node/tune/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/bounded_file.hpp"
#include "node/tune/request.hpp"

namespace wireproof::tune {
namespace {

constexpr int kMostLinks = 40;  // as the kernel
constexpr std::size_t kMostSets = 65536;

// In a user namespace the owner of the machine's folders has no number, and nobody in that
// namespace can change these folders.
bool is_unmapped(uid_t owner) {
  constexpr uid_t kOverflow = 65534;
  static const bool whole = read_file("/proc/self/uid_map").find("4294967295") != std::string::npos;
  return owner == kOverflow && !whole;
}

bool is_trusted(uid_t owner) { return owner == 0 || owner == geteuid() || is_unmapped(owner); }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Failure("the state folder " + path + " cannot be used: " + why);
}

std::string last_error() {
  return std::strerror(errno) + std::string(errno == EACCES ? " (are you root?)" : "");
}

void check_on_the_way(const Fd& folder, const std::string& path, const std::string& part) {
  struct stat info {};
  if (fstat(folder.get(), &info) != 0) refuse(path, std::strerror(errno));
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!is_trusted(info.st_uid) || (others_write && (info.st_mode & S_ISVTX) == 0)) {
    refuse(path, "another user can change " + (part.empty() ? "/" : part));
  }
}

void check_own(const Fd& folder, const std::string& path) {
  struct stat info {};
  if (fstat(folder.get(), &info) != 0) refuse(path, std::strerror(errno));
  if (info.st_uid != geteuid()) refuse(path, "it belongs to another user");
  if ((info.st_mode & 077) != 0) refuse(path, "other users can read it; its mode has to be 0700");
}

// The target of a link that belongs to no other user; "" if `name` is not a link.
std::string link_target(const Fd& folder, const std::string& name, const std::string& path) {
  struct stat info {};
  if (fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISLNK(info.st_mode)) {
    return "";
  }
  if (!is_trusted(info.st_uid)) refuse(path, "another user has made the link " + name);
  char target[PATH_MAX];
  const ssize_t length = readlinkat(folder.get(), name.c_str(), target, sizeof target);
  if (length <= 0) refuse(path, "the link " + name + " cannot be read");
  return {target, static_cast<std::size_t>(length)};
}

Fd step_into(const Fd& folder, const std::string& name, bool create, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd next(openat(folder.get(), name.c_str(), kFlags));
  if (next.is_open()) return next;
  if (errno == EACCES) next = Fd(openat(folder.get(), name.c_str(), kFlags | O_PATH));
  if (next.is_open()) return next;
  if (errno != ENOENT) refuse(path, name + ": " + last_error());
  if (!create) return next;
  if (mkdirat(folder.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    refuse(path, name + " cannot be made: " + last_error());
  }
  next = Fd(openat(folder.get(), name.c_str(), kFlags));
  if (!next.is_open()) refuse(path, name + ": " + std::strerror(errno));
  return next;
}

std::string take_part(std::string& rest) {
  const std::size_t slash = rest.find('/');
  std::string part = rest.substr(0, slash);
  rest.erase(0, slash == std::string::npos ? slash : slash + 1);
  return part;
}

}  // namespace

Fd open_private_folder(const std::string& path, bool create) {
  Fd folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) fail_errno("/");
  int links = 0;
  std::string last;
  for (std::string rest = path; !rest.empty();) {
    const std::string part = take_part(rest);
    if (part.empty() || part == ".") continue;
    if (part == "..") refuse(path, "\"..\" in a path of state is not followed");
    check_on_the_way(folder, path, last);
    if (const std::string target = link_target(folder, part, path); !target.empty()) {
      if (++links > kMostLinks || target.size() + rest.size() > PATH_MAX) refuse(path, "links");
      if (target.front() == '/') folder = Fd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      rest = target + "/" + rest;
      continue;
    }
    folder = step_into(folder, part, create, path);
    if (!folder.is_open()) return folder;
    last = part;
  }
  check_own(folder, path);
  return folder;
}

Fd open_private_file(const Fd& folder, const std::string& name, int flags) {
  Fd file(openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat info {};
  if (file.is_open() && (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))) {
    file.reset();
    errno = EINVAL;
  }
  return file;
}

std::vector<std::string> list_sets(const Fd& state) {
  const int folder = openat(state.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return {};
  std::vector<std::string> names = list_open_directory(folder, kMostSets);
  std::erase_if(names, [](const std::string& name) { return !is_name(name); });
  return names;
}

Fd open_set(const Fd& state, const std::string& id, bool create) {
  if (create && ((mkdirat(state.get(), id.c_str(), 0700) != 0 && errno != EEXIST) ||
                 fsync(state.get()) != 0)) {
    fail_errno("the folder of the set " + id + " cannot be made");
  }
  return Fd(openat(state.get(), id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void remove_set(const Fd& state, const std::string& id) {
  const Fd set = open_set(state, id, false);
  if (!set.is_open()) return;
  for (const char* name : {"journal.new", "journal"}) unlinkat(set.get(), name, 0);
  unlinkat(state.get(), id.c_str(), AT_REMOVEDIR);
}

std::optional<std::string> read_private(const Fd& folder, const std::string& name,
                                        std::size_t limit) {
  const Fd file = open_private_file(folder, name, O_RDONLY);
  if (!file.is_open()) return std::nullopt;
  FileText text = read_all(file.get(), limit);
  if (text.status != ReadStatus::ok || text.truncated) return std::nullopt;
  return std::move(text.text);
}

}  // namespace wireproof::tune
