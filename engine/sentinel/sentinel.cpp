#include "sentinel/sentinel.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace wireproof::sentinel {
namespace {

constexpr int kClockReads = 64;

// Steal time is counted in ticks of 10 ms, so reading it more often shows nothing. On a machine
// with hundreds of cores the kernel takes a millisecond to produce /proc/stat, so it is read rarely
// enough to cost at most 1 %.
constexpr std::int64_t kTickNs = 10'000'000;
constexpr std::int64_t kShareOfTime = 100;

std::int64_t involuntary_switches() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

// The eighth number of "cpu  user nice system idle iowait irq softirq steal ...".
std::optional<std::int64_t> parse_steal_ticks(std::string_view line) {
  if (!line.starts_with("cpu ")) return std::nullopt;
  const char* at = line.data() + 3;
  const char* const end = line.data() + line.size();
  std::int64_t value = 0;
  for (int column = 0; column < 8; ++column) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  return value;
}

int open_below(const std::string& root, const char* name) {
  const std::string path = (root.ends_with('/') ? root : root + "/") + name;
  return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

}  // namespace

WaitClock::WaitClock(const std::string& root)
    : schedstat_(open_below(root, "proc/self/schedstat")) {}

WaitClock::~WaitClock() {
  if (schedstat_ >= 0) ::close(schedstat_);
}

// "time on a processor, time waited for one, turns"; all zero if the kernel does not count them.
std::optional<double> WaitClock::waited_ns() const {
  std::array<char, 128> text{};
  const ssize_t got = schedstat_ < 0 ? -1 : ::pread(schedstat_, text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  const char* const end = text.data() + got;
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  const auto first = std::from_chars(text.data(), end, ran);
  if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, waited);
  if (second.ec != std::errc{} || (ran == 0 && waited == 0)) return std::nullopt;
  return static_cast<double>(waited);
}

Sentinel::Sentinel(const HostClock& clock, const std::string& root) : clock_(clock), wait_(root) {
  proc_stat_ = open_below(root, "proc/stat");
  const std::int64_t start = monotonic_ns();
  steal_ns_ = read_steal_ns().value_or(0);
  pause_ns_ = std::max(kTickNs, kShareOfTime * (monotonic_ns() - start));
  restart();
}

Sentinel::~Sentinel() {
  if (proc_stat_ >= 0) ::close(proc_stat_);
}

void Sentinel::restart() {
  notice_steal();
  unreported_ns_ = 0;
  switches_ = involuntary_switches();
  waited_ns_ = wait_.waited_ns();
}

Reading Sentinel::read() {
  Reading reading;
  const std::int64_t switches = involuntary_switches();
  reading.involuntary_switches = switches - std::exchange(switches_, switches);
  const auto waited = wait_.waited_ns();
  if (waited && waited_ns_) reading.waited_ns = *waited - *waited_ns_;
  waited_ns_ = waited;
  const Ticks start = clock_.now();
  Ticks end = start;
  for (int i = 0; i < kClockReads; ++i) end = clock_.now();
  reading.clock_read_ns = clock_.to_ns(end - start) / kClockReads;
  notice_steal();
  reading.steal_ns = static_cast<double>(std::exchange(unreported_ns_, 0));
  return reading;
}

void Sentinel::notice_steal() {
  const std::int64_t now = monotonic_ns();
  if (proc_stat_ < 0 || now < next_look_ns_) return;
  next_look_ns_ = now + pause_ns_;
  const auto total = read_steal_ns();
  if (!total) return;
  unreported_ns_ += std::max<std::int64_t>(0, *total - std::exchange(steal_ns_, *total));
}

std::optional<std::int64_t> Sentinel::read_steal_ns() {
  static const std::int64_t tick_ns = 1'000'000'000 / std::max(1L, ::sysconf(_SC_CLK_TCK));
  std::array<char, 512> text{};
  const ssize_t got = proc_stat_ < 0 ? -1 : ::pread(proc_stat_, text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  const auto ticks =
      parse_steal_ticks(std::string_view(text.data(), static_cast<std::size_t>(got)));
  return ticks ? std::optional(*ticks * tick_ns) : std::nullopt;
}

}  // namespace wireproof::sentinel
