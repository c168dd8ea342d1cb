// What else happened to the host while a block was timed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "sentinel/bounce.hpp"

namespace wireproof::sentinel {

struct Reading {
  double clock_read_ns = 0;  // mean cost of one clock reading now: doubles when the core is shared
  std::int64_t involuntary_switches = 0;  // of this process since the last reading
  std::optional<double>
      waited_ns;        // for a processor, while runnable; of this process's first thread
  double steal_ns = 0;  // taken by the hypervisor from all cores, as noticed since the last reading
  std::optional<double> bounce_ns;  // half round trip of a cache line between the pair's cores
};

/// How long the first thread of this process has waited for a processor so far; nothing where the
/// kernel does not count it.
class WaitClock {
 public:
  explicit WaitClock(const std::string& root = "/");
  ~WaitClock();
  WaitClock(const WaitClock&) = delete;
  WaitClock& operator=(const WaitClock&) = delete;
  std::optional<double> waited_ns() const;

 private:
  int schedstat_ = -1;
};

class Sentinel {
 public:
  explicit Sentinel(const HostClock& clock, const std::string& root = "/");
  ~Sentinel();
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;

  /// Forgets what happened before now: call where the block begins.
  void restart();
  /// Where the block ends: everything since restart (or the last reading), but bounce_ns, which
  /// Bounce::measure gives.
  Reading read();

 private:
  std::optional<std::int64_t> read_steal_ns();
  void notice_steal();

  const HostClock& clock_;
  WaitClock wait_;
  std::optional<double> waited_ns_;  // at the last reading
  int proc_stat_ = -1;
  std::int64_t switches_ = 0;
  std::int64_t steal_ns_ = 0;       // last total seen
  std::int64_t unreported_ns_ = 0;  // noticed, not yet in a reading
  std::int64_t pause_ns_ = 0;       // least time between two readings of /proc/stat
  std::int64_t next_look_ns_ = 0;
};

}  // namespace wireproof::sentinel
