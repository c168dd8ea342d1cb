#include "node/tune/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text_split.hpp"
#include "node/tune/allowed.hpp"
#include "node/tune/folder.hpp"

namespace wireproof::tune {
namespace {

std::string holder(const Fd& file) {
  char text[200];
  const ssize_t got = pread(file.get(), text, sizeof text, 0);
  std::string_view rest(text, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::string line(take_line(rest).value_or(""));
  return line.empty() || !is_text(line) ? "another process" : line;
}

}  // namespace

Lock Lock::open(const Fd& state) {
  Fd file = open_private_file(state, "lock", O_RDWR | O_CREAT);
  if (!file.is_open()) fail_errno("the lock of the state folder");
  Fd writers = open_private_file(state, "writers", O_RDWR | O_CREAT);
  if (!writers.is_open()) fail_errno("the lock of the state folder");
  return {std::move(file), std::move(writers)};
}

void Lock::sign(const std::string& purpose) {
  const std::string line = "tune " + purpose + " (process " + std::to_string(getpid()) + ")\n";
  if (ftruncate(file_.get(), 0) != 0 || pwrite(file_.get(), line.data(), line.size(), 0) < 0) {
    // only the text that other users see
  }
}

Lock Lock::take(const Fd& state, const std::string& purpose) {
  Lock lock = open(state);
  if (flock(lock.file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail_errno("the lock of the state folder");
    throw Failure(holder(lock.file_) + " is at work on this machine; try again when it has ended");
  }
  lock.sign(purpose);
  return lock;
}

Lock Lock::wait(const Fd& state, const std::string& purpose) {
  Lock lock = open(state);
  while (flock(lock.file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) fail_errno("the lock of the state folder");
  }
  lock.sign(purpose);
  return lock;
}

}  // namespace wireproof::tune
