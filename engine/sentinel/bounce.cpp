#include "sentinel/bounce.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <new>

#include "base/clock.hpp"

namespace wireproof::sentinel {

// 128 bytes apart: x86 fetches lines in pairs.
struct Bounce::Shared {
  alignas(128) std::atomic<std::uint64_t> ping;
  alignas(128) std::atomic<std::uint64_t> pong;
  alignas(128) std::atomic<std::uint32_t> state;
  std::atomic<std::uint64_t> paused_until;  // number of the last call to skip
};

namespace {

using Flag = std::atomic<std::uint64_t>;
static_assert(Flag::is_always_lock_free);

constexpr std::uint32_t kReady = 0x77697265;  // "wire": the origin has prepared the segment
constexpr std::uint32_t kJoined = kReady + 1;
constexpr std::uint32_t kClosed = kReady + 2;

// a flag contains: number of the call << 16 | step within it
constexpr std::uint64_t kCallBits = 16;
constexpr std::uint64_t kGaveUp = (1U << kCallBits) - 1;
constexpr int kGroups = 8;
constexpr int kTripsPerGroup = 8;
constexpr std::uint64_t kSteps =
    1 + kGroups * kTripsPerGroup;  // the first round only brings both ends together

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// The run id may contain any character; a file name may not.
std::string segment_path(const std::string& run_id, int origin, int target) {
  std::array<char, 96> path{};
  std::snprintf(path.data(), path.size(), "/dev/shm/wireproof-%u-%016llx-%d-%d", ::getuid(),
                static_cast<unsigned long long>(fnv1a(run_id)), origin, target);
  return path.data();
}

Bounce::Shared* map(int descriptor) {
  void* memory =
      ::mmap(nullptr, sizeof(Bounce::Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Bounce::Shared*>(memory);
}

void unmap(Bounce::Shared* shared) {
  if (shared != nullptr) ::munmap(shared, sizeof *shared);
}

void nap() {
  const timespec half_a_millisecond{0, 500'000};
  ::nanosleep(&half_a_millisecond, nullptr);
}

Bounce::Shared* create(const std::string& path, std::int64_t deadline_ns) {
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return nullptr;
  Bounce::Shared* shared = ::ftruncate(descriptor, sizeof *shared) == 0 ? map(descriptor) : nullptr;
  ::close(descriptor);
  bool joined = false;
  if (shared != nullptr) {
    new (shared) Bounce::Shared{};
    shared->state.store(kReady, std::memory_order_release);
    while (shared->state.load(std::memory_order_acquire) == kReady && monotonic_ns() < deadline_ns)
      nap();
    // This exchange decides: either the target has joined, or it can no longer join.
    joined = shared->state.exchange(kClosed) == kJoined;
  }
  ::unlink(path.c_str());
  if (joined) return shared;
  unmap(shared);
  return nullptr;
}

Bounce::Shared* try_join(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat info {};
  const bool whole = ::fstat(descriptor, &info) == 0 &&
                     info.st_size >= static_cast<off_t>(sizeof(Bounce::Shared)) &&
                     info.st_uid == ::getuid();
  Bounce::Shared* shared = whole ? map(descriptor) : nullptr;
  ::close(descriptor);
  std::uint32_t expected = kReady;
  if (shared != nullptr && shared->state.compare_exchange_strong(expected, kJoined)) return shared;
  unmap(shared);
  return nullptr;
}

Bounce::Shared* join(const std::string& path, std::int64_t deadline_ns) {
  for (;;) {
    Bounce::Shared* shared = try_join(path);
    if (shared != nullptr || monotonic_ns() >= deadline_ns) return shared;
    nap();
  }
}

// Spins until `flag` is at `wanted`. No pause instruction: it costs up to 140 cycles, more than the
// measured time.
bool await(const Flag& flag, std::uint64_t wanted, std::int64_t deadline_ns) {
  for (std::uint32_t spins = 1;; ++spins) {
    const std::uint64_t seen = flag.load(std::memory_order_acquire);
    if (seen == wanted) return true;
    if (seen > wanted)
      return false;  // the other end has abandoned this call, or is at a later call
    if (spins % 256 == 0 && monotonic_ns() >= deadline_ns) return false;
  }
}

}  // namespace

std::unique_ptr<Bounce> Bounce::open(const std::string& run_id, int origin, int target, Side side,
                                     std::int64_t patience_ms) {
  const std::string path = segment_path(run_id, origin, target);
  const std::int64_t deadline_ns = monotonic_ns() + patience_ms * 1'000'000;
  Shared* shared = side == Side::origin ? create(path, deadline_ns) : join(path, deadline_ns);
  return shared == nullptr ? nullptr : std::unique_ptr<Bounce>(new Bounce(shared, side));
}

Bounce::~Bounce() {
  shared_->paused_until.store(std::numeric_limits<std::uint64_t>::max());
  unmap(shared_);
}

std::optional<double> Bounce::measure() {
  const std::uint64_t base = ++calls_ << kCallBits;
  if (calls_ <= shared_->paused_until.load(std::memory_order_relaxed)) return std::nullopt;
  const auto half_trip_ns = side_ == Side::origin ? originate(base) : std::nullopt;
  const bool good = side_ == Side::origin ? half_trip_ns.has_value() : answer(base);
  Flag& mine = side_ == Side::origin ? shared_->ping : shared_->pong;
  if (!good) mine.store(base + kGaveUp, std::memory_order_release);
  failures_ = good ? 0 : failures_ + 1;
  if (failures_ >= kMostFailures && shared_->paused_until.load() < calls_) {
    shared_->paused_until.store(calls_ + kPausedCalls);
  }
  return half_trip_ns;
}

std::optional<double> Bounce::originate(std::uint64_t base) {
  const std::int64_t deadline_ns = monotonic_ns() + kPatienceNs;
  Flag& ping = shared_->ping;
  const Flag& pong = shared_->pong;
  std::uint64_t step = base + 1;
  ping.store(step, std::memory_order_release);
  if (!await(pong, step, deadline_ns)) return std::nullopt;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int group = 0; group < kGroups; ++group) {
    const std::int64_t start = monotonic_ns();
    for (int trip = 0; trip < kTripsPerGroup; ++trip) {
      ping.store(++step, std::memory_order_release);
      if (!await(pong, step, deadline_ns)) return std::nullopt;
    }
    best = std::min(best, monotonic_ns() - start);
  }
  return static_cast<double>(best) / (2.0 * kTripsPerGroup);
}

bool Bounce::answer(std::uint64_t base) {
  const std::int64_t deadline_ns = monotonic_ns() + kPatienceNs;
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    if (!await(shared_->ping, base + step, deadline_ns)) return false;
    shared_->pong.store(base + step, std::memory_order_release);
  }
  return true;
}

}  // namespace wireproof::sentinel
