#include "base/bounded_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace wireproof {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

FileText failed_reading(int error) {
  FileText result;
  result.reason = std::strerror(error);
  if (error == ENOENT || error == ENOTDIR || error == ENODEV || error == ENXIO) {
    result.status = ReadStatus::missing;
  } else if (error == EACCES || error == EPERM) {
    result.status = ReadStatus::denied;
  }
  return result;
}

// Reads until end of file or limit + 1 bytes, so that a file of exactly `limit` bytes does not
// count as truncated.
FileText read_all(int descriptor, std::size_t limit) {
  FileText result;
  result.status = ReadStatus::ok;
  char chunk[16384];
  while (result.text.size() <= limit) {
    const std::size_t want = std::min(sizeof chunk, limit + 1 - result.text.size());
    const ssize_t got = ::read(descriptor, chunk, want);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      if (!result.text.empty() && errno == EAGAIN) break;
      return failed_reading(errno);
    }
    result.text.append(chunk, static_cast<std::size_t>(got));
  }
  if (result.text.size() > limit) {
    result.text.resize(limit);
    result.truncated = true;
  }
  return result;
}

FileText read_bounded(const std::string& path, std::size_t limit) {
  if (path.empty() || path.find('\0') != std::string::npos) return failed_reading(ENOENT);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return failed_reading(errno);
  if (!S_ISREG(info.st_mode)) {
    FileText refused;
    refused.reason = "not a regular file";
    return refused;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return failed_reading(errno);
  FileText result;
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) {
    result = read_all(descriptor, limit);
  } else {
    result.reason = "became something else than a regular file while it was opened";
  }
  ::close(descriptor);
  return result;
}

std::string read_line(const std::string& path) { return first_line(read_bounded(path, 4096)); }

std::string first_line(const FileText& file) {
  if (file.status != ReadStatus::ok) return {};
  const std::string_view text = file.text;
  return std::string(trim(text.substr(0, text.find('\n'))));
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  const std::string_view digits = trim(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

std::vector<std::string> list_directory(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  return descriptor < 0 ? std::vector<std::string>() : list_open_directory(descriptor, SIZE_MAX);
}

std::vector<std::string> list_open_directory(int descriptor, std::size_t most) {
  std::vector<std::string> names;
  DIR* directory = ::fdopendir(descriptor);
  if (directory == nullptr) {
    ::close(descriptor);
    return names;
  }
  while (const dirent* entry = names.size() < most ? ::readdir(directory) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::string under_root(std::string_view root, std::string_view relative) {
  std::string path(root.empty() ? "/" : root);
  if (path.back() != '/') path += '/';
  path += relative;
  return path;
}

}  // namespace wireproof
