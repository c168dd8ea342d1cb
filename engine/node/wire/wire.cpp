#include "wire.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace wireproof::wire {
namespace {

constexpr std::size_t kHeader = 14 + 8;         // Ethernet, and two VLAN tags
constexpr std::size_t kMostMemory = 256 << 20;  // of frames in flight
constexpr int kBurst = 16;  // frames of one port before the other ports get their turn
constexpr Nanoseconds kSecond = 1'000'000'000;
constexpr int kPriority = 10;
// With this many frames in flight, one wake-up for each would cost more than the frames: like a NIC
// with interrupt moderation, the wire checks again after a while. No frame is early, and none is
// lost.
constexpr std::size_t kBulk = 16;
constexpr Nanoseconds kModeration = 60'000;

Nanoseconds now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

std::size_t frame_room(const Config& config) {
  std::int64_t largest = 0;
  for (const PortConfig& port : config.ports) largest = std::max(largest, port.mtu);
  return (static_cast<std::size_t>(largest) + kHeader + 63) / 64 * 64;
}

// A frame that is due must not wait for other computations. Without permission for real-time
// priority, the shortest time slice lets this process run soon after a wake-up (Linux 6.12).
bool go_first() {
  mlockall(MCL_CURRENT);
  prctl(PR_SET_TIMERSLACK, 1UL);
  sched_param priority{};
  priority.sched_priority = kPriority;
  if (sched_setscheduler(0, SCHED_FIFO, &priority) == 0) return true;
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{48, SCHED_OTHER, 0, 0, 0, 100'000, 0, 0};
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  return false;
}

}  // namespace

Wire::Wire(std::string config_path, const Config& config, std::vector<Fd> taps, Status& status)
    : config_path_(std::move(config_path)),
      late_(config.late),
      taps_(std::move(taps)),
      status_(status),
      pool_(frame_room(config), kMostMemory / frame_room(config)),
      switch_(config.settings(), config.seed, pool_),
      signals_(signal_descriptor({SIGTERM, SIGINT, SIGHUP})),
      ready_(taps_.size()),
      wanted_(taps_.size() + 1) {
  status_.header().late_ns = static_cast<std::uint64_t>(late_);
  status_.header().revision = static_cast<std::uint64_t>(config.revision);
}

void Wire::run() {
  status_.header().scheduling = go_first() ? 1 : 0;
  while (attend_signals()) {
    for (std::size_t port = 0; port < taps_.size(); ++port) take_from(port);
    switch_.advance(now_ns());
    for (std::size_t port = 0; port < taps_.size(); ++port) hand_over(port);
    status_.copy(switch_);
    wait();
  }
}

// False if this process must end.
bool Wire::attend_signals() {
  const int number = next_signal(signals_).number;
  if (number == SIGHUP) read_again();
  return number == 0 || number == SIGHUP;
}

// If the file is invalid, the revision does not change, which shows the refusal.
void Wire::read_again() {
  try {
    const Config config = parse_config(read_file(config_path_));
    if (config.ports.size() != switch_.size()) return;
    switch_.set(config.settings());
    status_.header().revision = static_cast<std::uint64_t>(config.revision);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "wireproof-node: %s\n", failure.what());
  }
}

void Wire::take_from(std::size_t port) {
  Readiness& ready = ready_[port];
  if (!ready.readable) return;
  const Nanoseconds begin = now_ns();
  if (ready.unfinished && switch_.idle_for(port, begin) > late_) {
    // Frames waited while their line was idle: the wire was slower than it should be.
    ++status_.header().starved;
    status_.header().worst_ns = std::max(status_.header().worst_ns,
                                         static_cast<std::uint64_t>(switch_.idle_for(port, begin)));
  }
  ready.unfinished = true;
  for (int i = 0; i < kBurst && switch_.may_take(port, now_ns()); ++i) {
    std::byte* buffer = pool_.take();
    const ssize_t length = read(taps_[port].get(), buffer, pool_.room());
    if (length <= 0) {
      pool_.give_back(buffer);
      ready = {false, false, ready.gone};
      return;
    }
    switch_.take(port, now_ns(), {buffer, static_cast<std::size_t>(length)});
  }
}

void Wire::hand_over(std::size_t port) {
  for (Nanoseconds now = now_ns(); const auto due = switch_.next(port, now); now = now_ns()) {
    const auto late = now - due->at;
    StatusHeader& header = status_.header();
    ++header.frames;
    if (late > late_) ++header.late;
    header.worst_ns = std::max(header.worst_ns, static_cast<std::uint64_t>(late));
    PortCounters& counters = switch_.counters(port);
    if (write(taps_[port].get(), due->frame.bytes, due->frame.length) < 0) {
      ++counters.refused;  // the node's device is down, or out of memory
    } else {
      ++counters.rx_frames;
      counters.rx_bytes += due->frame.length;
    }
    pool_.give_back(due->frame.bytes);
  }
}

void Wire::moderate() {
  const timespec pause{0, kModeration};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  for (Readiness& ready : ready_) ready.readable = true;
}

// Waits until the next due time, the next frame of a node, or a signal.
void Wire::wait() {
  wanted_[0] = {signals_.get(), POLLIN, 0};
  const Nanoseconds now = now_ns();
  std::optional<Nanoseconds> next = switch_.next_event();
  if (next && *next - now < kModeration && switch_.under_way() > kBulk) return moderate();
  for (std::size_t port = 0; port < taps_.size(); ++port) {
    const bool may = !ready_[port].gone && switch_.may_take(port, now);
    if (may && ready_[port].unfinished) next = now;
    wanted_[port + 1] = {may ? taps_[port].get() : -1, POLLIN, 0};
  }
  const Nanoseconds patience = next ? std::max<Nanoseconds>(*next - now, 0) : 0;
  const timespec timeout{patience / kSecond, patience % kSecond};
  ppoll(wanted_.data(), wanted_.size(), next ? &timeout : nullptr, nullptr);
  for (std::size_t port = 0; port < taps_.size(); ++port) {
    const short answer = wanted_[port + 1].revents;
    if ((answer & POLLIN) != 0) ready_[port].readable = true;
    // Polling it again would always return at once, and this process has priority over all others.
    if ((answer & (POLLERR | POLLHUP | POLLNVAL)) != 0) ready_[port].gone = true;
  }
}

}  // namespace wireproof::wire
