// Counters that are files: InfiniBand port and hardware counters, and interface statistics of a
// saved tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "witness/snapshot.hpp"

namespace wireproof::witness {

enum class FileScope { none, infiniband, infiniband_and_network };

class FileCounters {
 public:
  // `keep_open`: hold the files and pread them (sysfs makes the text anew at every read at offset
  // 0). A saved tree is opened anew each time, because a deleted file would go on answering.
  FileCounters(std::string root, FileScope scope, bool keep_open);
  ~FileCounters();
  FileCounters(const FileCounters&) = delete;
  FileCounters& operator=(const FileCounters&) = delete;

  void read(NameTable& names, Snapshot& snapshot, Depth depth = Depth::everything);

 private:
  struct Entry {
    std::string path;
    std::size_t index = 0;
    int descriptor = -1;
    bool bytes = false;
  };

  std::vector<std::string> devices() const;
  void scan(NameTable& names);
  void add_folder(const std::string& folder, const std::string& prefix, NameTable& names);
  bool read_all(Snapshot& snapshot, Depth depth);  // false: a device went away under us
  std::optional<std::uint64_t> read_entry(Entry& entry, bool& gone);
  void close_all();

  std::string root_;
  FileScope scope_;
  bool keep_open_;
  std::size_t open_budget_ = 0;
  std::size_t open_now_ = 0;
  std::vector<std::string> devices_;
  std::vector<Entry> entries_;
};

}  // namespace wireproof::witness
