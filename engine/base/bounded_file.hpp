// Reads files that other programs wrote: bounded in size, regular files only, never blocking on a
// FIFO or a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wireproof {

enum class ReadStatus { ok, missing, denied, failed };

struct FileText {
  ReadStatus status = ReadStatus::failed;
  std::string text;
  bool truncated = false;
  std::string reason;  // the error if status is not ok
};

// Reads at most `limit` bytes. Any other file (those of sysfs and procfs are regular) is `failed`
// and is never opened: opening some device nodes has side effects (tapes rewind, watchdogs arm).
FileText read_bounded(const std::string& path, std::size_t limit);

// First line without surrounding white space; "" if the file cannot be read.
std::string read_line(const std::string& path);

// The parts of the functions above, for callers that have opened the file themselves
// (base/tree.hpp).
FileText read_all(int descriptor, std::size_t limit);
FileText failed_reading(int error);
std::string first_line(const FileText& file);
// Returns at most `most` sorted names in an open folder, and closes the folder.
std::vector<std::string> list_open_directory(int descriptor, std::size_t most);

// A decimal number, possibly surrounded by white space; nothing for a sign, overflow or other text.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// Sorted entry names without "." and ".."; empty if the directory cannot be read.
std::vector<std::string> list_directory(const std::string& path);

// "/" + "sys/x" -> "/sys/x"; "/tmp/tree" + "sys/x" -> "/tmp/tree/sys/x".
std::string under_root(std::string_view root, std::string_view relative);

}  // namespace wireproof
