#include "plan/plan_text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/failure.hpp"

namespace wireproof {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

Failure unreadable(const std::string& file, const std::string& reason) {
  return bad_plan("cannot read the plan " + file + ": " + reason);
}

/// 0 at the end. Launchers may pass on non-blocking pipes, so wait for data.
std::size_t read_some(int descriptor, char* piece, const std::string& file) {
  for (;;) {
    const ssize_t got = ::read(descriptor, piece, kPiece);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      throw unreadable(file, std::strerror(errno));
    }
  }
}

/// Tells the writer of the plan the number of bytes that have been read. MPICH's launcher ends the
/// job if more data is pending than fits into its pipe to rank 0, so the writer of a long plan
/// waits for this.
void acknowledge(std::size_t read) {
  std::printf("{\"frame\":\"plan\",\"read_bytes\":%zu}\n", read);
  std::fflush(stdout);
}

std::string read_all(int descriptor, const std::string& file, std::size_t limit) {
  std::string text;
  char piece[kPiece];
  while (const std::size_t got = read_some(descriptor, piece, file)) {
    text.append(piece, got);
    if (text.size() > limit) {
      throw unreadable(file, "it is longer than " + std::to_string(limit) + " bytes");
    }
    if (descriptor == STDIN_FILENO && text.starts_with(kPaced)) acknowledge(text.size());
  }
  if (text.starts_with(kPaced)) text.erase(0, kPaced.size());
  return text;
}

/// Closes the file even if reading it fails.
class OpenFile {
 public:
  explicit OpenFile(const std::string& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)) {
    if (descriptor_ < 0) throw unreadable(file, std::strerror(errno));
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::string read_plan_text(const std::string& file, std::size_t limit) {
  if (file == "-") return read_all(STDIN_FILENO, "from standard input", limit);
  const OpenFile open(file);
  return read_all(open.descriptor(), file, limit);
}

}  // namespace wireproof
