#include "base/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace wireproof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorsLimit = 4096;

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
    ::fcntl(read_end, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

class SpawnSettings {
 public:
  SpawnSettings(const Pipe& output, const Pipe& errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output.write_end, 1);
    ::posix_spawn_file_actions_adddup2(&actions_, errors.write_end, 2);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
#endif
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // 0 or an errno; posix_spawnp also reports that the program is missing or not executable.
  int spawn(pid_t& child, const Program& program) const {
    const auto pointers = [](const std::vector<std::string>& words) {
      std::vector<char*> list;
      for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
      list.push_back(nullptr);
      return list;
    };
    return ::posix_spawnp(&child, program.argv[0].c_str(), &actions_, &attributes_,
                          pointers(program.argv).data(), pointers(program.environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Appends the available bytes, at most a full pipe, so that a command that never stops writing
// cannot hide the deadline. False at end of file.
bool drain(int descriptor, std::string& text, std::size_t limit, bool& truncated) {
  std::array<char, 16384> chunk{};
  for (int reads = 0; reads < 64; ++reads) {
    const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    const std::size_t room = limit - std::min(limit, text.size());
    const std::size_t taken = std::min(room, static_cast<std::size_t>(got));
    text.append(chunk.data(), taken);
    truncated = truncated || taken < static_cast<std::size_t>(got);
    if (got < static_cast<ssize_t>(chunk.size())) return true;
  }
  return true;
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == child;
}

// Reads both pipes until the command has ended or the deadline is over. False: deadline. A pipe
// that a daemon of the command keeps open causes no delay, because only the end of the command
// counts.
bool pump(pid_t child, Pipe& output, Pipe& errors, std::size_t limit, Clock::time_point deadline,
          Ended& end) {
  bool ignored = false;
  for (;;) {
    const bool ended = has_ended(child);
    if (output.read_end >= 0 && !drain(output.read_end, end.text, limit, end.truncated)) {
      Pipe::close_end(output.read_end);
    }
    if (errors.read_end >= 0 && !drain(errors.read_end, end.errors, kErrorsLimit, ignored)) {
      Pipe::close_end(errors.read_end);
    }
    if (ended) return true;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> waits = {pollfd{output.read_end, POLLIN, 0},
                                   pollfd{errors.read_end, POLLIN, 0}};
    ::poll(waits.data(), waits.size(), static_cast<int>(std::min<long long>(left, 5)));
  }
}

void settle(Ended& end, pid_t child) {
  // before reaping: until then the zombie reserves the number of the process group
  ::kill(-child, SIGKILL);
  int state = 0;
  pid_t reaped = 0;
  do reaped = ::waitpid(child, &state, 0);
  while (reaped < 0 && errno == EINTR);
  if (!end.in_time) return;
  if (reaped == child && WIFEXITED(state)) end.exit_status = WEXITSTATUS(state);
  if (reaped == child && WIFSIGNALED(state)) end.exit_status = 128 + WTERMSIG(state);
}

}  // namespace

void search_absolute_folders_only() {
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return;  // the system's folders
  std::string kept;
  for (std::string_view rest = path;;) {
    const std::size_t end = rest.find(':');
    const std::string_view entry = rest.substr(0, end);
    if (entry.starts_with('/')) kept.append(kept.empty() ? "" : ":").append(entry);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (kept.empty()) kept = "/bin:/usr/bin";
  ::setenv("PATH", kept.append(":/usr/sbin:/sbin").c_str(), 1);
}

Ended run_program(const Program& program) {
  Ended end;
  const auto deadline = Clock::now() + std::chrono::milliseconds(program.timeout_ms);
  Pipe output;
  Pipe errors;
  pid_t child = -1;
  end.start_error = output.read_end < 0 || errors.read_end < 0
                        ? EMFILE
                        : SpawnSettings(output, errors).spawn(child, program);
  if (end.start_error != 0) return end;
  Pipe::close_end(output.write_end);
  Pipe::close_end(errors.write_end);
  end.in_time = pump(child, output, errors, program.limit_bytes, deadline, end);
  settle(end, child);
  return end;
}

}  // namespace wireproof
