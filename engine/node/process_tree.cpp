#include "process_tree.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/text_split.hpp"
#include "system.hpp"

namespace wireproof {
namespace {

constexpr int kKillPatienceMs = 5000;

struct Process {
  pid_t parent = 0;
  std::uint64_t start = 0;
};

template <class T>
bool read_number(std::string_view word, T& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

// Fields 4 (parent) and 22 (start time) of /proc/PID/stat; nothing for a zombie or a process that
// has exited. The name in field 2 may contain anything, so parsing starts after its last ')'.
std::optional<Process> read_process(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view fields = std::string_view(text).substr(name_end + 1);
  const std::string_view state = take_word(fields);
  if (state == "Z" || state == "X") return std::nullopt;
  Process process;
  if (!read_number(take_word(fields), process.parent)) return std::nullopt;
  for (int field = 5; field < 22; ++field) take_word(fields);
  if (!read_number(take_word(fields), process.start)) return std::nullopt;
  return process;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    if (const auto process = read_process(pid)) found[pid] = *process;
  }
  return found;
}

bool carries(pid_t pid, const std::string& mark) {
  const std::string block = '\0' + read_file("/proc/" + std::to_string(pid) + "/environ");
  return block.find('\0' + mark + '\0') != std::string::npos;
}

// The start time is read again after the pidfd is open, so that a reused pid is not hit.
void signal_process(pid_t pid, std::uint64_t start, int number) {
  const Fd process = process_descriptor(pid);
  const auto now = read_process(pid);
  if (!now || now->start != start) return;
  if (process.is_open()) {
    syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0U);
  } else if (errno == ENOSYS) {
    kill(pid, number);
  }
}

}  // namespace

// A process that was once in the tree stays in it: its children are found even if it has died in
// between.
std::map<pid_t, ProcessTree::Start> ProcessTree::living() {
  const auto processes = all_processes();
  std::map<pid_t, Start> members;
  for (const auto& [pid, process] : processes) {
    const auto known = known_.find(pid);
    if (pid == root_ || pid == getpid()) continue;
    if ((known != known_.end() && known->second == process.start) || carries(pid, mark_)) {
      members[pid] = process.start;
    }
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [pid, process] : processes) {
      if (pid == root_ || pid == getpid() || members.contains(pid)) continue;
      if (process.parent == root_ || members.contains(process.parent)) {
        members[pid] = process.start;
        grown = true;
      }
    }
  }
  known_.insert(members.begin(), members.end());
  return members;
}

void ProcessTree::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) reaped_[pid] = status;
}

bool ProcessTree::terminate(int grace_ms) {
  const std::int64_t begin = monotonic_ms();
  std::map<pid_t, Start> asked;
  for (;;) {
    reap();
    const auto members = living();
    if (members.empty()) return true;
    const std::int64_t elapsed = monotonic_ms() - begin;
    if (elapsed > grace_ms + kKillPatienceMs) return false;
    for (const auto& [pid, start] : members) {
      if (elapsed >= grace_ms) {
        signal_process(pid, start, SIGKILL);
      } else if (asked.insert({pid, start}).second) {
        signal_process(pid, start, SIGTERM);
        signal_process(pid, start, SIGCONT);
      }
    }
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

int ProcessTree::status_of(pid_t child) const {
  const auto found = reaped_.find(child);
  return found == reaped_.end() ? -1 : found->second;
}

std::string random_mark() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    fail_errno("getrandom");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace wireproof
