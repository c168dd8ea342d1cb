// The files of one machine, which other programs wrote: "/" itself, or a folder with the files of
// another machine (recorded, synthetic, or a host's files that a container has mounted). Size and
// number are bounded, only regular files are read, and no link leads out of the folder: an absolute
// link begins at the folder, as it did on the original machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_file.hpp"

namespace wireproof {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

/// Paths are relative to the root, without a leading "/". Not thread-safe.
class Tree {
 public:
  static constexpr std::size_t kMostEntries = 65536;  // of one folder

  explicit Tree(std::string root = "/");

  /// True for the files of this machine.
  bool live() const { return live_; }
  const std::string& root() const { return root_; }

  FileText read(const std::string& path, std::size_t limit) const;
  /// First line without surrounding white space; "" if the file cannot be read.
  std::string line(const std::string& path) const;
  std::optional<std::uint64_t> number(const std::string& path) const;
  /// Sorted names of the entries; empty if the folder does not exist.
  std::vector<std::string> list(const std::string& folder) const;
  /// Whether the path exists, after following links.
  bool exists(const std::string& path) const;
  bool is_folder(const std::string& path) const;
  /// Text of a symbolic link, and its last component; "" if it is not a link.
  std::string target(const std::string& path) const;
  std::string target_name(const std::string& path) const;
  /// A regular file, opened with `flags` (O_RDONLY, O_WRONLY); nothing, with errno set, for
  /// anything else: opening some device nodes has side effects, and a FIFO would wait for its
  /// writer.
  Descriptor open(const std::string& path, int flags) const;
  /// A folder in which files are created and removed; nothing, with errno set, for anything else.
  Descriptor open_folder(const std::string& path) const;

 private:
  struct Place {
    int folder = -1;   // borrowed from the cache, or `owner`
    Descriptor owner;  // if the last component was a link
    std::string leaf;  // not a link, unless links are not followed
  };
  std::optional<Place> locate(const std::string& path, bool follow_last) const;
  int folder_of(const std::string& path) const;

  std::string root_;
  bool live_;
  Descriptor base_;
  mutable std::string cached_path_;  // folder of the previous path: successive paths often share it
  mutable Descriptor cached_;
};

/// Values for "{host}" and "{rank}" in a root. Throws Failure if the host's name could lead out of
/// the root.
std::string expand_root(std::string root, const std::string& host, int rank);

}  // namespace wireproof
