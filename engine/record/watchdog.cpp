#include "record/watchdog.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/packet_probe.hpp"
#include "record/frame_sink.hpp"

namespace wireproof::watchdog {
namespace {

constexpr int kLeadGraceMs = 1000;    // rank 0 exits after the others have reported,
constexpr int kOthersGraceMs = 2500;  // and the others after its frame is written
constexpr std::int64_t kLateNs = 400'000'000;
constexpr std::int64_t kPendingNs = 1'500'000'000;  // interval between signs of life
constexpr int kMostParents = 64;
constexpr int kLeave = static_cast<int>(ExitStatus::cannot_measure);

// Everything that the signal handler needs is prepared here: the handler formats nothing.
struct Prepared {
  char deadline[256];
  char interrupted[256];
};
struct LastWord {
  char line[256];
  char pending[256];
  char drops[256];
  char ended[256];
};
Prepared g_prepared[2];
LastWord g_last_word[2];
volatile sig_atomic_t g_current = 0;       // which of the two is complete
volatile sig_atomic_t g_current_word = 0;  // the same of g_last_word
volatile sig_atomic_t g_speaks = 0;        // this is rank 0 and a run is in progress
volatile sig_atomic_t g_runs = 0;          // a run is in progress
int g_ranks = 1;
char g_host[72] = "";
std::int64_t g_point = -1;  // < 0: between points
constexpr int kOthers = -1;
constexpr int kNobody = -2;
int g_awaited = kNobody;
timer_t g_timer{};
bool g_timer_made = false;
int g_rank = 0;
int g_run_deadline_ms = 0;
std::int64_t g_run_end_ns = 0;
std::int64_t g_deadline_ns = 0;  // of the point, or of the run between points
std::int64_t g_alarm_ns = 0;     // the timer's current setting
PacketProbe g_probe;
bool g_meets = false;
std::jthread g_lookout;  // while the ranks meet

void say(const char* line) {
  if (g_speaks == 0) return;
  if (FrameSink::mid_line()) write_all(STDOUT_FILENO, "\n");
  write_all(STDOUT_FILENO, {line, strlen(line)});
}

/// One write, so that the lines of several ranks are not interleaved. A rank that reports late was
/// stopped or had no processor when the others reported, which its line states.
void say_last_word() {
  char line[sizeof(LastWord::line) + 16];
  const std::string_view word = g_last_word[g_current_word].line;
  const bool late = monotonic_ns() > g_alarm_ns + kLateNs;
  const std::string_view ending = late ? ", late\n" : "\n";
  word.copy(line, word.size());
  ending.copy(line + word.size(), ending.size());
  const std::size_t length = word.size() + ending.size();
  write_all(STDERR_FILENO, {line, length});
}

void set_timer() {
  itimerspec at{};
  at.it_value = {static_cast<time_t>(g_alarm_ns / 1'000'000'000),
                 static_cast<long>(g_alarm_ns % 1'000'000'000)};
  if (g_timer_made) timer_settime(g_timer, TIMER_ABSTIME, &at, nullptr);
}

/// Appends a number; no function of the library is needed.
char* append(char* at, unsigned number) {
  if (number >= 10) at = append(at, number / 10);
  *at = static_cast<char>('0' + number % 10);
  return at + 1;
}

/// "10.0.0.2", or eight groups of hexadecimal digits.
char* append(char* at, const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const std::uint8_t*>(
        &reinterpret_cast<const sockaddr_in&>(address).sin_addr);
    for (int i = 0; i < 4; ++i) {
      if (i > 0) *at++ = '.';
      at = append(at, four[i]);
    }
    return at;
  }
  const auto* six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr;
  for (int i = 0; i < 16; ++i) {
    if (i > 0 && i % 2 == 0) *at++ = ':';
    *at++ = "0123456789abcdef"[six[i] >> 4];
    *at++ = "0123456789abcdef"[six[i] & 15];
  }
  return at;
}

char* append(char* at, std::string_view text) { return at + text.copy(at, text.size()); }

struct Process {
  char name[16] = "";
  unsigned parent = 0;
};

/// From "4711 (bash) S 4700 ..."; empty if the process has gone.
Process find_process(unsigned pid) {
  char text[512];
  *append(append(append(text, "/proc/"), pid), "/stat") = '\0';
  const int file = ::open(text, O_RDONLY | O_CLOEXEC);
  const ssize_t length = ::read(file, text, sizeof text);
  ::close(file);
  const std::string_view line(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t begin = line.find('(') + 1;
  const std::size_t end = line.rfind(')');
  Process found;
  if (begin == 0 || end == line.npos || end < begin) return found;
  line.substr(begin, end - begin).copy(found.name, sizeof found.name - 1);
  for (char& letter : found.name) {
    if (letter != '\0' && (letter < ' ' || letter > '~')) letter = '?';
  }
  for (std::size_t i = end + 4; i < line.size() && line[i] >= '0' && line[i] <= '9'; ++i) {
    found.parent = found.parent * 10 + static_cast<unsigned>(line[i] - '0');
  }
  return found;
}

/// True for the processes of a launcher, up to the guard that started it: they end the remaining
/// ranks of a run that has failed.
bool is_launcher(unsigned pid) {
  auto parent = static_cast<unsigned>(getppid());
  for (int i = 0; i < kMostParents && parent != 0; ++i) {
    if (parent == pid) return true;
    const Process process = find_process(parent);
    if (std::string_view(process.name) == "wireproof-node") return false;
    parent = process.parent;
  }
  return false;
}

/// Reports the signal and its sender, because other ranks see only a closed connection. The sender
/// is unknown if it is the kernel or in another process namespace.
void say_ended(int number, const siginfo_t& info) {
  const auto sender = static_cast<unsigned>(info.si_code <= 0 ? info.si_pid : 0);
  if (g_ranks < 2 || is_launcher(sender)) return;
  char line[sizeof(LastWord::ended) + 64];
  char* end = append(line, std::string_view(g_last_word[g_current_word].ended));
  end = append(end, number == SIGTERM ? "SIGTERM" : "SIGINT");
  if (sender != 0) {
    end = append(append(end, " of process "), sender);
    const Process process = find_process(sender);
    if (process.name[0] != '\0') end = append(append(append(end, " ("), process.name), ")");
  }
  end = append(end, "\n");
  write_all(STDERR_FILENO, {line, static_cast<std::size_t>(end - line)});
}

/// Reports a path that drops large packets, which no library would ever report.
void look_at_path() {
  if (!g_probe.look()) return;
  char line[sizeof(LastWord::drops) + 128];
  char* end = append(line, std::string_view(g_last_word[g_current_word].drops));
  end = append(end, g_probe.peer());
  end = append(end, " gets packets of ");
  end = append(end, static_cast<unsigned>(g_probe.passed()));
  end = append(end, " bytes and none of ");
  end = append(end, static_cast<unsigned>(g_probe.dropped()));
  end = append(end, "\n");
  write_all(STDERR_FILENO, {line, static_cast<std::size_t>(end - line)});
}

/// A sign of life: wireproof considers a rank stopped if it sends none while others do.
void say_pending() {
  const int before = errno;
  const char* const line = g_last_word[g_current_word].pending;
  if (g_ranks > 1) {
    write_all(STDERR_FILENO, {line, strlen(line)});
    look_at_path();
  }
  g_alarm_ns = std::min(g_deadline_ns, monotonic_ns() + kPendingNs);
  set_timer();
  errno = before;
}

void on_alarm(int, siginfo_t*, void*) {
  if (g_runs != 0 && monotonic_ns() < g_deadline_ns) return say_pending();
  if (g_runs != 0) say_last_word();
  say(g_prepared[g_current].deadline);
  if (g_ranks > 1) poll(nullptr, 0, g_rank == 0 ? kLeadGraceMs : kOthersGraceMs);
  _exit(kLeave);
}

void on_interrupt(int number, siginfo_t* info, void*) {
  say_ended(number, *info);
  say(g_prepared[g_current].interrupted);
  _exit(kLeave);
}

void take(int signal_number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigfillset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

/// `id` < 0: between points.
void prepare(std::int64_t id, const char* what, int milliseconds) {
  const int next = 1 - g_current;
  char where[48] = "";
  if (id >= 0) std::snprintf(where, sizeof where, ",\"id\":%lld", static_cast<long long>(id));
  std::snprintf(g_prepared[next].deadline, sizeof g_prepared[next].deadline,
                "{\"frame\":\"error\",\"code\":\"deadline\",\"message\":\"%s did not finish within "
                "%d ms\"%s,\"rank\":%d}\n",
                what, milliseconds, where, g_rank);
  std::snprintf(g_prepared[next].interrupted, sizeof g_prepared[next].interrupted,
                "{\"frame\":\"error\",\"code\":\"interrupted\",\"message\":\"a signal ended the "
                "run\"%s,\"rank\":%d}\n",
                where, g_rank);
  g_current = next;
}

/// "at point 12" or "between points", into `where`.
void describe_point(char (&where)[40]) {
  if (g_point < 0) {
    std::snprintf(where, sizeof where, "between points");
  } else {
    std::snprintf(where, sizeof where, "at point %lld", static_cast<long long>(g_point));
  }
}

void prepare_last_word() {
  const int next = 1 - g_current_word;
  char where[40];
  describe_point(where);
  char what[40] = "is busy itself";
  if (g_awaited == kOthers) std::snprintf(what, sizeof what, "waits for the others");
  if (g_awaited >= 0) std::snprintf(what, sizeof what, "waits for rank %d", g_awaited);
  std::snprintf(g_last_word[next].line, sizeof g_last_word[next].line,
                "wireproof-engine: deadline: rank %d on %s %s %s", g_rank, g_host, where, what);
  std::snprintf(g_last_word[next].pending, sizeof g_last_word[next].pending,
                "wireproof-engine: pending: rank %d on %s %s %s\n", g_rank, g_host, where, what);
  std::snprintf(g_last_word[next].drops, sizeof g_last_word[next].drops,
                "wireproof-engine: drops: rank %d on %s %s: ", g_rank, g_host, where);
  std::snprintf(g_last_word[next].ended, sizeof g_last_word[next].ended,
                "wireproof-engine: ended: rank %d on %s %s by ", g_rank, g_host, where);
  g_current_word = next;
}

/// The host's name becomes one bounded word, whatever the plan contains.
void remember_host(const std::string& host) {
  std::size_t at = 0;
  for (; at < host.size() && at + 1 < sizeof g_host; ++at) {
    const bool plain = host[at] > ' ' && host[at] < 0x7F;
    g_host[at] = plain ? host[at] : '?';
  }
  if (at == 0) g_host[at++] = '?';
  g_host[at] = '\0';
}

void await(int whom) {
  g_awaited = whom;
  prepare_last_word();
}

void identify(const Identity& identity) {
  g_rank = identity.rank;
  g_ranks = identity.ranks;
  remember_host(identity.host);
  g_point = -1;
  await(kNobody);
}

void end_meeting() {
  g_lookout = {};
  g_meets = false;
}

void arm_at(std::int64_t end_ns) {
  g_deadline_ns = end_ns;
  g_alarm_ns = std::min(end_ns, monotonic_ns() + kPendingNs);
  set_timer();
}

}  // namespace

void install() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);  // a reader that is gone shows as an error of write()
  take(SIGALRM, on_alarm);
  take(SIGTERM, on_interrupt);
  take(SIGINT, on_interrupt);
}

void begin_meeting(const Identity& identity) {
  end_meeting();
  identify(identity);
  if (g_ranks < 2) return;
  g_meets = true;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // the libraries that open do not expect signals
  g_lookout = std::jthread([](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any ended;
    const auto interval = std::chrono::nanoseconds(kPendingNs);
    while (!ended.wait_for(lock, stop, interval, [&stop] { return stop.stop_requested(); })) {
      look_at_path();
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void begin_run(const Identity& identity, int run_deadline_ms) {
  end_meeting();
  identify(identity);
  g_run_deadline_ms = run_deadline_ms;
  g_run_end_ns = monotonic_ns() + std::int64_t{run_deadline_ms} * 1'000'000;
  prepare(-1, "the run", run_deadline_ms);
  g_speaks = g_rank == 0 ? 1 : 0;
  g_runs = 1;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  g_timer_made = timer_create(CLOCK_MONOTONIC, &event, &g_timer) == 0;
  arm_at(g_run_end_ns);
}

void begin_point(std::int64_t id, int point_deadline_ms) {
  const std::int64_t end_ns = monotonic_ns() + std::int64_t{point_deadline_ms} * 1'000'000;
  const bool own = end_ns < g_run_end_ns;
  prepare(id, own ? "the point" : "the run", own ? point_deadline_ms : g_run_deadline_ms);
  g_point = id;
  await(kNobody);
  arm_at(std::min(end_ns, g_run_end_ns));
}

void end_point() {
  prepare(-1, "the run", g_run_deadline_ms);
  g_point = -1;
  await(kNobody);
  arm_at(g_run_end_ns);
}

void end_run() {
  if (g_timer_made) timer_delete(g_timer);
  g_timer_made = false;
  g_speaks = 0;
  g_runs = 0;
}

void wait_for(int rank) { await(rank); }
void wait_for_others() { await(kOthers); }
void busy() { await(kNobody); }

std::string position() {
  if (g_host[0] == '\0' || g_meets) return "";
  char where[40];
  describe_point(where);
  return "rank " + std::to_string(g_rank) + " on " + g_host + " " + where;
}

}  // namespace wireproof::watchdog
