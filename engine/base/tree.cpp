#include "base/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/failure.hpp"

namespace wireproof {
namespace {

constexpr int kMostLinks = 40;  // as the kernel
constexpr std::size_t kLongestPath = 1 << 16;

std::string take_component(std::string& rest) {
  const std::size_t slash = rest.find('/');
  std::string component = rest.substr(0, slash);
  rest.erase(0, slash == std::string::npos ? std::string::npos : slash + 1);
  return component;
}

std::string read_link(int folder, const std::string& name) {
  char text[PATH_MAX];
  const ssize_t length = ::readlinkat(folder, name.c_str(), text, sizeof text);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string();
}

bool is_link(int folder, const std::string& name) {
  struct stat info {};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

Descriptor enter(int folder, const std::string& name) {
  return Descriptor(::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// The folder and the name that `path` resolves to below `base`. Each step starts from an open
/// folder and does not follow links implicitly, so no race with a writer of the tree leads out of
/// it.
struct Walked {
  Descriptor folder;
  std::string leaf;
};

std::optional<Walked> walk(int base, std::string rest, bool follow_last) {
  std::vector<Descriptor> folders;  // open folders below the base, each inside the previous one
  std::string leaf = ".";
  for (int links = 0; !rest.empty();) {
    const std::string name = take_component(rest);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (!folders.empty()) folders.pop_back();
      continue;
    }
    const int here = folders.empty() ? base : folders.back().number();
    const bool last = rest.find_first_not_of('/') == std::string::npos;
    if (is_link(here, name) && !(last && !follow_last)) {
      const std::string target = read_link(here, name);
      if (++links > kMostLinks || target.empty() || rest.size() > kLongestPath) {
        errno = ELOOP;
        return std::nullopt;
      }
      if (target.front() == '/') folders.clear();
      rest = rest.empty() ? target : target + '/' + rest;
      continue;
    }
    if (last) {
      leaf = name;
      break;
    }
    folders.push_back(enter(here, name));
    if (!folders.back()) return std::nullopt;
  }
  Descriptor folder =
      folders.empty() ? Descriptor(::fcntl(base, F_DUPFD_CLOEXEC, 0)) : std::move(folders.back());
  return Walked{std::move(folder), leaf};
}

FileText refused(const char* reason) {
  FileText text;
  text.reason = reason;
  return text;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.release();
  }
  return *this;
}

Tree::Tree(std::string root)
    : root_(root.empty() ? "/" : std::move(root)),
      live_(root_ == "/"),
      base_(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

int Tree::folder_of(const std::string& path) const {
  if (cached_ && cached_path_ == path) return cached_.number();
  cached_path_ = path;
  const auto walked = walk(base_.number(), path, /*follow_last=*/true);
  cached_ = walked ? enter(walked->folder.number(), walked->leaf) : Descriptor();
  return cached_.number();
}

/// Most paths name files in the folder of the previous path, without links.
std::optional<Tree::Place> Tree::locate(const std::string& path, bool follow_last) const {
  Place place;
  const std::size_t slash = path.rfind('/');
  const std::string leaf = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (path.find('\0') != std::string::npos || path.size() > kLongestPath) {
    errno = ENOENT;
    return std::nullopt;
  }
  if (!leaf.empty() && leaf != "." && leaf != "..") {
    place.folder = folder_of(slash == std::string::npos ? "" : path.substr(0, slash));
    place.leaf = leaf;
    if (place.folder < 0) return std::nullopt;
    if (!follow_last || !is_link(place.folder, leaf)) return place;
  }
  auto walked = walk(base_.number(), path, follow_last);
  if (!walked || !walked->folder) return std::nullopt;
  place.owner = std::move(walked->folder);
  place.folder = place.owner.number();
  place.leaf = std::move(walked->leaf);
  return place;
}

Descriptor Tree::open(const std::string& path, int flags) const {
  const auto place = locate(path, true);
  if (!place) return Descriptor();
  struct stat info {};
  if (::fstatat(place->folder, place->leaf.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return Descriptor();
  if (!S_ISREG(info.st_mode)) {
    errno = EISDIR;
    return Descriptor();
  }
  Descriptor file(::openat(place->folder, place->leaf.c_str(),
                           flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file && (::fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode))) {
    errno = EISDIR;
    return Descriptor();
  }
  return file;
}

Descriptor Tree::open_folder(const std::string& path) const {
  const auto place = locate(path, true);
  if (!place) return Descriptor();
  return Descriptor(::openat(place->folder, place->leaf.c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

FileText Tree::read(const std::string& path, std::size_t limit) const {
  errno = 0;
  const Descriptor file = open(path, O_RDONLY);
  if (!file && errno == EISDIR) return refused("not a regular file");
  if (!file) return failed_reading(errno);
  return read_all(file.number(), limit);
}

std::string Tree::line(const std::string& path) const { return first_line(read(path, 4096)); }

std::optional<std::uint64_t> Tree::number(const std::string& path) const {
  return parse_unsigned(line(path));
}

std::vector<std::string> Tree::list(const std::string& folder) const {
  cached_ = Descriptor();  // a file that is listed again may have been replaced
  const auto place = locate(folder, true);
  if (!place) return {};
  const int descriptor = ::openat(place->folder, place->leaf.c_str(),
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {};
  return list_open_directory(descriptor, kMostEntries);
}

bool Tree::exists(const std::string& path) const {
  const auto place = locate(path, true);
  struct stat info {};
  return place && ::fstatat(place->folder, place->leaf.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool Tree::is_folder(const std::string& path) const {
  const auto place = locate(path, true);
  return place && enter(place->folder, place->leaf);
}

std::string Tree::target(const std::string& path) const {
  const auto place = locate(path, false);
  return place ? read_link(place->folder, place->leaf) : std::string();
}

std::string Tree::target_name(const std::string& path) const {
  const std::string text = target(path);
  return text.substr(text.rfind('/') + 1);
}

std::string expand_root(std::string root, const std::string& host, int rank) {
  const auto replace = [&](const std::string& word, const std::string& by) {
    for (std::size_t at = root.find(word); at != std::string::npos;
         at = root.find(word, at + by.size())) {
      root.replace(at, word.size(), by);
    }
  };
  if (root.find("{host}") != std::string::npos) {
    if (host.empty() || host == "." || host == ".." || host.find('/') != std::string::npos) {
      throw bad_plan("witness root=" + root + ": the host of rank " + std::to_string(rank) +
                     ", \"" + host + "\", cannot be the name of a folder");
    }
    replace("{host}", host);
  }
  replace("{rank}", std::to_string(rank));
  return root;
}

}  // namespace wireproof
