// A synthetic file tree in a fresh temporary folder, removed at the end of the test.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace wireproof::test {

class TemporaryTree {
 public:
  TemporaryTree() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "wireproof-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = pattern;
  }
  ~TemporaryTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  std::string root() const { return root_.string(); }
  std::string path(const std::string& relative) const { return (root_ / relative).string(); }

  void write(const std::string& relative, const std::string& text) const {
    std::filesystem::create_directories((root_ / relative).parent_path());
    std::ofstream(root_ / relative, std::ios::binary) << text;
  }
  void link(const std::string& relative, const std::string& target) const {
    std::filesystem::create_directories((root_ / relative).parent_path());
    std::filesystem::create_directory_symlink(target, root_ / relative);
  }
  void remove(const std::string& relative) const { std::filesystem::remove_all(root_ / relative); }

 private:
  std::filesystem::path root_;
};

/// Root can read everything, so during the lifetime of this object file access is that of user
/// nobody.
class WithoutPrivilege {
 public:
  explicit WithoutPrivilege(const TemporaryTree& tree) {
    std::filesystem::permissions(tree.root(), std::filesystem::perms(0755));
    was_root_ = ::geteuid() == 0 && ::seteuid(65534) == 0;
  }
  ~WithoutPrivilege() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  WithoutPrivilege(const WithoutPrivilege&) = delete;
  WithoutPrivilege& operator=(const WithoutPrivilege&) = delete;

 private:
  bool was_root_ = false;
};

}  // namespace wireproof::test
