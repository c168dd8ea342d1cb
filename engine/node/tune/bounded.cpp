#include "node/tune/bounded.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "node/system.hpp"

namespace wireproof::tune {
namespace {

constexpr int kReapMs = 100;

void send(int descriptor, const Reply& reply) {
  const std::string message = std::to_string(reply.error) + '\0' + reply.reason + '\0' + reply.text;
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t wrote = write(descriptor, message.data() + sent, message.size() - sent);
    if (wrote <= 0) return;
    sent += static_cast<std::size_t>(wrote);
  }
}

// In the child, only the answer's pipe and the lock stay open, as 3 and 4.
[[noreturn]] void serve(int answer, int lock, const std::function<Reply()>& work) {
  const int high_answer = fcntl(answer, F_DUPFD, 10);
  const int high_lock = lock >= 0 ? fcntl(lock, F_DUPFD, 10) : -1;
  detach_streams();
  dup3(high_answer, 3, O_CLOEXEC);
  if (high_lock >= 0) dup3(high_lock, 4, O_CLOEXEC);
  close_from(high_lock >= 0 ? 5 : 4);
  Reply reply;
  try {
    reply = work();
  } catch (const std::exception& failure) {
    reply = failed(EIO, failure.what());
  }
  send(3, reply);
  _exit(0);
}

Reply parsed(const std::string& message) {
  const std::size_t first = message.find('\0');
  const std::size_t second = first == std::string::npos ? first : message.find('\0', first + 1);
  if (second == std::string::npos) return failed(EIO, "the process that did it was ended");
  Reply reply;
  reply.error = std::atoi(message.c_str());
  reply.reason = message.substr(first + 1, second - first - 1);
  reply.text = message.substr(second + 1);
  return reply;
}

// Reads until the end of the pipe; false at the deadline.
bool receive(int descriptor, std::int64_t deadline_ms, std::string& message) {
  char piece[16384];
  for (;;) {
    const std::int64_t left = deadline_ms - monotonic_ms();
    if (left <= 0) return false;
    pollfd wanted{descriptor, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::min<std::int64_t>(left, 1000)));
    if (ready <= 0) continue;
    const ssize_t got = read(descriptor, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    message.append(piece, static_cast<std::size_t>(got));
  }
}

// False: it hangs in the kernel and cannot be waited for.
bool reap(pid_t child) {
  for (int waited = 0; waited <= kReapMs; waited += 5) {
    const pid_t ended = waitpid(child, nullptr, WNOHANG);
    if (ended == child || (ended < 0 && errno == ECHILD)) return true;
    poll(nullptr, 0, 5);
  }
  return false;
}

}  // namespace

Reply failed(int error, const std::string& reason) {
  return {error, {}, reason.empty() ? std::strerror(error) : reason, 0};
}

void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
#endif
  std::vector<int> open;
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(folder)) open.push_back(std::atoi(entry->d_name));
    closedir(folder);
  } else {
    for (int number = first; number < 1024; ++number) open.push_back(number);
  }
  for (const int number : open) {
    if (number >= first) close(number);
  }
}

void detach_streams() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream <= 2; ++stream) {
    if (null < 0 || dup2(null, stream) < 0) close(stream);
  }
  if (null > 2) close(null);
}

Reply bounded(int patience_ms, int lock, const std::function<Reply()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed(errno, "");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) return failed(errno, "");
  if (child == 0) serve(writer.get(), lock, work);
  writer.reset();
  std::string message;
  const bool answered = receive(reader.get(), monotonic_ms() + patience_ms, message);
  if (!answered) kill(child, SIGKILL);
  if (answered) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return parsed(message);
  }
  Reply reply = failed(ETIMEDOUT, "no answer within " + std::to_string(patience_ms) + " ms");
  if (!reap(child)) reply.left = child;
  return reply;
}

}  // namespace wireproof::tune
