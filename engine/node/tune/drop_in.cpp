#include "node/tune/drop_in.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/tree.hpp"
#include "node/tune/allowed.hpp"
#include "node/tune/place.hpp"

namespace wireproof::tune {
namespace {

constexpr std::size_t kMost = kLongestText;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string temporary(const std::string& path) { return "." + name_in(path) + ".new"; }

[[noreturn]] void fail_at(const std::string& path) { fail_errno(path); }

// Not open if it is missing.
Descriptor open_folder(const std::string& root, const std::string& folder) {
  Descriptor found = Tree(root).open_folder(folder.substr(1));
  if (!found && errno == ENOENT) return found;
  if (!found) fail_at(folder);
  if (place_of(found.number(), root) != folder) {
    throw bad_plan(folder + " is a link: tune writes drop-ins in the folder itself alone");
  }
  return found;
}

Descriptor made_folder(const std::string& root, const std::string& folder) {
  Descriptor found = open_folder(root, folder);
  if (found) return found;
  const Descriptor parent = open_folder(root, folder_of(folder));
  if (!parent) fail_at(folder_of(folder));
  if (::mkdirat(parent.number(), name_in(folder).c_str(), 0755) != 0 && errno != EEXIST)
    fail_at(folder);
  found = open_folder(root, folder);
  if (!found) fail_at(folder);
  return found;
}

void remove_file(const Descriptor& folder, const std::string& name, const std::string& path) {
  if (::unlinkat(folder.number(), name.c_str(), 0) != 0 && errno != ENOENT) fail_at(path);
}

void fill(const Descriptor& file, const std::string& path, const OldKeep& wanted) {
  struct stat info {};
  const auto size = static_cast<ssize_t>(wanted.text.size());
  if (::write(file.number(), wanted.text.data(), wanted.text.size()) != size ||
      ::fstat(file.number(), &info) != 0) {
    fail_at(path);
  }
  if ((info.st_uid != wanted.owner || info.st_gid != wanted.group) &&
      ::fchown(file.number(), wanted.owner, wanted.group) != 0) {
    fail_at(path);
  }
  if (::fchmod(file.number(), wanted.mode) != 0 || ::fsync(file.number()) != 0) fail_at(path);
}

}  // namespace

bool same_drop_in(const OldKeep& one, const OldKeep& other) {
  if (!one.there || !other.there) return one.there == other.there;
  return one.text == other.text && one.mode == other.mode && one.owner == other.owner &&
         one.group == other.group;
}

OldKeep read_drop_in(const std::string& root, const std::string& path) {
  OldKeep old;
  const Descriptor folder = open_folder(root, folder_of(path));
  old.folder = static_cast<bool>(folder);
  if (!folder) return old;
  const Descriptor file(::openat(folder.number(), name_in(path).c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return old;
  if (!file && errno == ELOOP) throw bad_plan(path + " is a link: it is no file of ours");
  struct stat info {};
  if (!file || ::fstat(file.number(), &info) != 0) fail_at(path);
  if (!S_ISREG(info.st_mode)) throw bad_plan(path + " is not a regular file");
  FileText text = read_all(file.number(), kMost);
  if (text.status != ReadStatus::ok) throw Failure(path + ": " + text.reason);
  if (text.truncated || !is_text(text.text)) {
    throw Failure(path + " is longer than 65536 bytes or no text");
  }
  old.there = true;
  old.text = std::move(text.text);
  old.mode = info.st_mode & 07777U;
  old.owner = info.st_uid;
  old.group = info.st_gid;
  return old;
}

void write_drop_in(const std::string& root, const std::string& path, const OldKeep& wanted) {
  const Descriptor folder = made_folder(root, folder_of(path));
  const std::string name = temporary(path);
  remove_file(folder, name, path);
  const Descriptor file(::openat(folder.number(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail_at(path);
  try {
    fill(file, path, wanted);
    if (::renameat(folder.number(), name.c_str(), folder.number(), name_in(path).c_str()) != 0 ||
        ::fsync(folder.number()) != 0) {
      fail_at(path);
    }
  } catch (const Failure&) {
    ::unlinkat(folder.number(), name.c_str(), 0);
    throw;
  }
}

void restore_drop_in(const std::string& root, const std::string& path, const OldKeep& old) {
  if (old.there && !same_drop_in(read_drop_in(root, path), old)) write_drop_in(root, path, old);
  const Descriptor folder = open_folder(root, folder_of(path));
  if (!folder) return;
  remove_file(folder, temporary(path), path);
  if (!old.there) remove_file(folder, name_in(path), path);
  if (::fsync(folder.number()) != 0) fail_at(path);
  if (old.folder) return;
  const Descriptor parent = open_folder(root, folder_of(folder_of(path)));
  if (parent) ::unlinkat(parent.number(), name_in(folder_of(path)).c_str(), AT_REMOVEDIR);
}

}  // namespace wireproof::tune
