// Other events on the host while a block was timed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "sentinel/bounce.hpp"

namespace wireproof::sentinel {

struct Reading {
  double clock_read_ns = 0;  // mean cost of one clock reading now; it doubles if the core is shared
  std::int64_t involuntary_switches = 0;  // of this process since the last reading
  std::optional<double>
      // time waited for a processor while runnable; of this process's first thread
      waited_ns;
  // taken by the hypervisor from all cores, as observed since the last reading
  double steal_ns = 0;
  std::optional<double> bounce_ns;  // half round trip of a cache line between the pair's cores
};

/// The time that the first thread of this process has waited for a processor so far; nothing if the
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

  /// Forgets earlier events: call it where the block begins.
  void restart();
  /// Called where the block ends: everything since restart (or the last reading) except bounce_ns,
  /// which comes from Bounce::measure.
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
  std::int64_t unreported_ns_ = 0;  // observed, but not yet part of a reading
  std::int64_t pause_ns_ = 0;       // minimum time between two readings of /proc/stat
  std::int64_t next_look_ns_ = 0;
};

}  // namespace wireproof::sentinel
