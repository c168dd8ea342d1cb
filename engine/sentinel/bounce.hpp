// Raw cache-line bounce between the two cores of a pair, in addition to the measurement.
//
// On a virtual machine the distance between two virtual cores flips every few seconds (half round
// trip 0.05 or 0.25 us) and changes the latency of every MPI with it; only this measurement shows
// that, no counter does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace wireproof::sentinel {

enum class Side { origin, target };

class Bounce {
 public:
  /// Both ends call this together. The origin creates a small file in /dev/shm, the target opens
  /// it, and it is unlinked at once. Null if the other end does not appear within `patience_ms`:
  /// they share no memory. (Call host::share_memory(...) first to avoid the wait.)
  static std::unique_ptr<Bounce> open(const std::string& run_id, int origin, int target, Side side,
                                      std::int64_t patience_ms = 300);
  ~Bounce();
  Bounce(const Bounce&) = delete;
  Bounce& operator=(const Bounce&) = delete;

  /// Half round trip of a cache line in ns, best of eight groups of eight; 10 to 50 us in all. Both
  /// ends call it at the start of every block, the same number of times; the target would get its
  /// value too late and returns nothing. Nothing if the other end does not respond within
  /// `kPatienceNs` (both on one core, or more ranks than cores). After kMostFailures such blocks in
  /// a row, the next kPausedCalls calls return nothing at once, so that a crowded host loses little
  /// time.
  std::optional<double> measure();

  static constexpr std::int64_t kPatienceNs = 200'000;
  static constexpr int kMostFailures = 4;
  static constexpr std::uint64_t kPausedCalls = 64;

  struct Shared;

 private:
  Bounce(Shared* shared, Side side) : shared_(shared), side_(side) {}

  std::optional<double> originate(std::uint64_t base);
  bool answer(std::uint64_t base);

  Shared* shared_;
  Side side_;
  std::uint64_t calls_ = 0;
  int failures_ = 0;
};

}  // namespace wireproof::sentinel
