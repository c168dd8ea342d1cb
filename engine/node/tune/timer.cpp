#include "node/tune/timer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/text_split.hpp"
#include "node/tune/bounded.hpp"
#include "node/tune/folder.hpp"
#include "node/tune/lock.hpp"
#include "node/tune/undo.hpp"

namespace wireproof::tune {
namespace {

constexpr int kTries = 5;
constexpr int kStartMs = 5000;

// Field 22 of /proc/PID/stat; the name before it may contain spaces and brackets. 0: no such
// process.
std::uint64_t start_of(int pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return 0;
  std::string_view rest = std::string_view(text).substr(bracket + 1);
  std::string_view word = take_word(rest);  // field 3
  if (word == "Z" || word == "X") return 0;
  for (int field = 4; field <= 22; ++field) word = take_word(rest);
  std::uint64_t start = 0;
  std::from_chars(word.data(), word.data() + word.size(), start);
  return start;
}

// The changes may have cut off the shared file system that the program came from, and lack of
// memory must not end the process that restores everything. Both are only attempts.
void harden() {
  mlockall(MCL_CURRENT | MCL_FUTURE);
  const Fd score(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score.is_open() && write(score.get(), "-1000", 5) < 0) return;
}

// True if this process is in the root of the hierarchy that is mounted there.
bool go_to_root(const std::string& hierarchy) {
  const std::string path = "/sys/fs/cgroup/" + hierarchy + "/cgroup.procs";
  const Fd file(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  return file.is_open() && write(file.get(), "0", 1) == 1;
}

// A batch system ends everything in a job's control groups when the job is over, so the process
// that restores the old values leaves them. These are also only attempts. A line is
// "NUMBER:HIERARCHY:GROUP".
void leave_groups() {
  const std::string text = read_file("/proc/self/cgroup");
  for (std::string_view rest = text; const auto line = take_line(rest);) {
    const std::size_t first = std::min(line->find(':'), line->size() - 1);
    std::string_view name = line->substr(first + 1);
    name = name.substr(0, name.find(':'));
    if (name.starts_with("name=")) name.remove_prefix(5);
    if (!go_to_root(std::string(name)) && name.empty()) go_to_root("unified");
  }
}

// The clock starts at boot and also counts during sleep; setting the date does not change it.
void sleep_until(std::int64_t deadline_ms) {
  const Fd clock(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
  itimerspec at{};
  at.it_value.tv_sec = deadline_ms / 1000;
  at.it_value.tv_nsec = deadline_ms % 1000 * 1'000'000 + 1;  // 0 would disarm it
  const bool set =
      clock.is_open() && timerfd_settime(clock.get(), TFD_TIMER_ABSTIME, &at, nullptr) == 0;
  while (boot_ms() < deadline_ms) {
    std::uint64_t expirations = 0;
    const std::int64_t left = std::min<std::int64_t>(deadline_ms - boot_ms(), 1000);
    if (!set) {
      poll(nullptr, 0, static_cast<int>(std::max<std::int64_t>(left, 1)));
    } else if (read(clock.get(), &expirations, sizeof expirations) < 0 && errno != EINTR) {
      return;
    }
  }
}

// True if nothing is left for another attempt.
bool try_to_revert(const Options& options, std::uint64_t number) {
  const Fd state = open_private_folder(options.state, false);
  if (!state.is_open()) return true;
  Lock lock = Lock::wait(state, "timer " + options.id);
  auto set = load_set(state, options.id);
  if (!set || set->story.number != number) return true;
  const Phase phase = set->story.phase;
  if (phase == Phase::confirmed || phase == Phase::reverted) return true;
  lock.writers().wait(set->story.request.patience_ms);
  const Machine machine(options.root, set->story.request.patience_ms, &lock.writers());
  return revert_set(*set, machine, {}, "it was not confirmed in time", Answers(-1)) ==
         Phase::reverted;
}

[[noreturn]] void watch(const Options& options, const Story& story) {
  sleep_until(story.deadline_ms);
  for (int turn = 0; turn < kTries; ++turn) {
    try {
      if (try_to_revert(options, story.number)) break;
    } catch (const Failure&) {
      // the folder or the disk may be back at the next attempt
    }
    sleep(1U << turn);
  }
  _exit(0);
}

// Detaches from the session, the terminal and every descriptor, and reports its pid.
[[noreturn]] void become_timer(const Options& options, const Story& story, int report) {
  const int high = fcntl(report, F_DUPFD, 10);
  detach_streams();
  dup3(high, 3, O_CLOEXEC);
  close_from(4);
  if (chdir("/") != 0) _exit(1);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) signal(number, SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  prctl(PR_SET_NAME, "wireproof-timer");
  harden();
  leave_groups();
  const std::string line = std::to_string(getpid()) + " " + std::to_string(start_of(getpid()));
  if (write(3, line.data(), line.size()) < 0) _exit(1);
  close(3);
  watch(options, story);
}

std::string read_report(int descriptor) {
  char text[64];
  std::string line;
  const std::int64_t end = monotonic_ms() + kStartMs;
  for (std::int64_t left = kStartMs; left > 0; left = end - monotonic_ms()) {
    pollfd wanted{descriptor, POLLIN, 0};
    if (poll(&wanted, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = read(descriptor, text, sizeof text);
    if (got <= 0) break;
    line.append(text, static_cast<std::size_t>(got));
  }
  return line;
}

}  // namespace

TimerProcess start_timer(const Options& options, const Story& story) {
  Options own = options;
  own.id = story.request.id;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno("the timer cannot be started");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) fail_errno("the timer cannot be started");
  if (child == 0) {
    setsid();
    const pid_t timer = fork();
    if (timer != 0) _exit(timer < 0 ? 1 : 0);
    become_timer(own, story, writer.get());
  }
  writer.reset();
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::string report = read_report(reader.get());
  std::string_view rest = report;
  const std::string pid(take_word(rest));
  TimerProcess timer{std::atoi(pid.c_str()), 0};
  const std::string start(take_word(rest));
  timer.start = std::strtoull(start.c_str(), nullptr, 10);
  if (timer.pid <= 0) throw Failure("the timer cannot be started: nothing was changed");
  return timer;
}

bool is_alive(const std::optional<TimerProcess>& timer) {
  return timer && start_of(timer->pid) == timer->start && timer->start != 0;
}

void end_timer(const std::optional<TimerProcess>& timer) {
  if (!timer || timer->pid == getpid()) return;
  const Fd process = process_descriptor(timer->pid);
  if (!is_alive(timer)) return;
#ifdef SYS_pidfd_send_signal
  if (process.is_open() &&
      syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0U) == 0) {
    return;
  }
#endif
  kill(timer->pid, SIGKILL);
}

}  // namespace wireproof::tune
