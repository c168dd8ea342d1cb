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

// Steal is counted in ticks of 10 ms: looking more often shows nothing. On a machine with hundreds
// of cores /proc/stat takes a millisecond to make: then it is read so seldom that it costs 1 %.
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

}  // namespace

Sentinel::Sentinel(const HostClock& clock, const std::string& root) : clock_(clock) {
  const std::string path = (root.ends_with('/') ? root : root + "/") + "proc/stat";
  proc_stat_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
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
}

Reading Sentinel::read() {
  Reading reading;
  const std::int64_t switches = involuntary_switches();
  reading.involuntary_switches = switches - std::exchange(switches_, switches);
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
