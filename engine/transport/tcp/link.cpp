#include "transport/tcp/link.hpp"

#include <poll.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "transport/concept.hpp"

namespace wireproof::tcp {

static_assert(Link<TcpLink>);

namespace {

// A round trip through the kernel takes 5 to 50 us and a wake-up from sleep about as long, so a
// waiting end spins for much longer than that; after 1 ms without a byte the link is slow and a
// wake-up no longer matters.
constexpr std::int64_t kSpinNs = 1'000'000;
constexpr std::int64_t kControlSpinNs = 150'000;
constexpr int kSpinsPerLook = 16;
constexpr std::int64_t kLongestNapMs = 100;

bool is_pause(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

class TcpLink::Patience {
 public:
  /// `own`: what the call waits for in addition to the queues.
  Patience(TcpLink& link, Awaited own) : link_(link), own_(own) {}

  void moved() noexcept { since_ns_ = 0; }
  void nothing_moved() {
    if (++spins_ % kSpinsPerLook != 0) return;
    const std::int64_t now = monotonic_ns();
    if (since_ns_ == 0) since_ns_ = now;
    if (now - since_ns_ < kSpinNs) {
      sched_yield();  // both ends may be on the same core
    } else {
      link_.sleep(own_, since_ns_);
    }
  }

 private:
  TcpLink& link_;
  Awaited own_;
  std::int64_t since_ns_ = 0;
  std::uint32_t spins_ = 0;
};

TcpLink::TcpLink(Connections connections, std::string peer, std::int64_t stall_ms)
    : connections_(std::move(connections)),
      peer_(std::move(peer)),
      stall_ns_(stall_ms * 1'000'000) {
  reserve(1);
}

void TcpLink::reserve(int slots) {
  const auto wanted = static_cast<std::size_t>(slots);
  if (wanted <= busy_.size()) return;
  busy_.resize(wanted);
  outgoing_.reserve(
      wanted);  // called while nothing is in progress, so the rings may be laid out again
  incoming_.reserve(wanted);
}

std::size_t TcpLink::try_send(const std::byte* source, std::size_t bytes) {
  const ssize_t sent = ::send(connections_.data.descriptor(), source, bytes, MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (!is_pause(errno)) fail("tcp-lost", sentence(Transfer::failed));
  return 0;
}

std::size_t TcpLink::try_recv(const Socket& socket, std::byte* sink, std::size_t bytes) {
  const ssize_t got = ::recv(socket.descriptor(), sink, bytes, 0);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) fail("tcp-lost", "closed the connection (its process ended)");
  if (!is_pause(errno)) fail("tcp-lost", sentence(Transfer::failed));
  return 0;
}

void TcpLink::send(const std::byte* source, std::size_t bytes) {
  if (bytes == 0) {
    source = &empty_message_;
    bytes = 1;
  }
  Patience patience(*this, Awaited::room);
  while (!outgoing_.empty()) progress() ? patience.moved() : patience.nothing_moved();
  for (;;) {
    const std::size_t sent = try_send(source, bytes);
    if (sent == bytes) return;
    source += sent;
    bytes -= sent;
    const bool moved = pull_incoming() || sent > 0;
    moved ? patience.moved() : patience.nothing_moved();
  }
}

void TcpLink::recv(std::byte* sink, std::size_t bytes) {
  if (bytes == 0) {
    sink = &empty_message_;
    bytes = 1;
  }
  Patience patience(*this, Awaited::data);
  while (!incoming_.empty()) progress() ? patience.moved() : patience.nothing_moved();
  for (;;) {
    const std::size_t got = try_recv(connections_.data, sink, bytes);
    if (got == bytes) return;
    sink += got;
    bytes -= got;
    const bool moved = push_outgoing() || got > 0;
    moved ? patience.moved() : patience.nothing_moved();
  }
}

void TcpLink::post_send(int slot, const std::byte* source, std::size_t bytes) {
  // One queue type serves both directions; an outgoing item is only read.
  auto* at = bytes == 0 ? &empty_message_ : const_cast<std::byte*>(source);
  busy_[static_cast<std::size_t>(slot)] = 1;
  outgoing_.push({at, bytes == 0 ? 1 : bytes, slot});
  push_outgoing();
}

void TcpLink::post_recv(int slot, std::byte* sink, std::size_t bytes) {
  busy_[static_cast<std::size_t>(slot)] = 1;
  incoming_.push({bytes == 0 ? &empty_message_ : sink, bytes == 0 ? 1 : bytes, slot});
}

bool TcpLink::push_outgoing() {
  bool moved = false;
  while (!outgoing_.empty()) {
    Queue::Item& item = outgoing_.head();
    const std::size_t sent = try_send(item.at, item.left);
    moved = moved || sent > 0;
    item.at += sent;
    item.left -= sent;
    if (item.left > 0) return moved;
    busy_[static_cast<std::size_t>(item.slot)] = 0;
    outgoing_.pop();
  }
  return moved;
}

bool TcpLink::pull_incoming() {
  bool moved = false;
  while (!incoming_.empty()) {
    Queue::Item& item = incoming_.head();
    const std::size_t got = try_recv(connections_.data, item.at, item.left);
    moved = moved || got > 0;
    item.at += got;
    item.left -= got;
    if (item.left > 0) return moved;
    busy_[static_cast<std::size_t>(item.slot)] = 0;
    incoming_.pop();
  }
  return moved;
}

bool TcpLink::progress() {
  const bool pushed = push_outgoing();
  return pull_incoming() || pushed;
}

void TcpLink::wait(int first, int count) {
  Patience patience(*this, Awaited::nothing);
  for (int slot = first; slot < first + count; ++slot) {
    while (busy_[static_cast<std::size_t>(slot)] != 0) {
      progress() ? patience.moved() : patience.nothing_moved();
    }
  }
}

void TcpLink::send_ack() {
  const std::byte token{};
  Patience patience(*this, Awaited::nothing);
  while (::send(connections_.acknowledgement.descriptor(), &token, 1, MSG_NOSIGNAL) != 1) {
    if (!is_pause(errno)) fail("tcp-lost", sentence(Transfer::failed));
    progress() ? patience.moved() : patience.nothing_moved();
  }
}

void TcpLink::recv_ack() {
  std::byte token{};
  Patience patience(*this, Awaited::acknowledgement);
  while (try_recv(connections_.acknowledgement, &token, 1) != 1) {
    progress() ? patience.moved() : patience.nothing_moved();
  }
}

void TcpLink::sleep(Awaited own, std::int64_t since_ns) {
  if (monotonic_ns() - since_ns > stall_ns_) {
    fail("tcp-stalled", "moved no byte for " + std::to_string(stall_ns_ / 1'000'000) + " ms");
  }
  // Polls only for what is really awaited, because a permanently writable socket would wake this
  // process permanently.
  const bool writes = own == Awaited::room || !outgoing_.empty();
  const bool reads = own == Awaited::data || !incoming_.empty();
  const auto data = static_cast<short>((writes ? POLLOUT : 0) | (reads ? POLLIN : 0));
  const auto acknowledgement = static_cast<short>(own == Awaited::acknowledgement ? POLLIN : 0);
  std::array<pollfd, 2> waits = {
      pollfd{connections_.data.descriptor(), data, 0},
      pollfd{connections_.acknowledgement.descriptor(), acknowledgement, 0}};
  ::poll(waits.data(), waits.size(), static_cast<int>(kLongestNapMs));
}

void TcpLink::send_control(std::span<const std::byte> message) {
  const auto outcome = send_all(connections_.control, message, monotonic_ns() + stall_ns_);
  if (outcome != Transfer::done) fail("tcp-lost", sentence(outcome));
}

void TcpLink::recv_control(std::span<std::byte> message) {
  // Between two blocks the next command arrives soon, and the next action (the cache-line bounce)
  // is timed, so a wake-up from sleep would come too late.
  const std::int64_t end_of_spin_ns = monotonic_ns() + kControlSpinNs;
  std::size_t filled = 0;
  while (filled < message.size() && monotonic_ns() < end_of_spin_ns) {
    const auto rest = message.subspan(filled);
    filled += try_recv(connections_.control, rest.data(), rest.size());
  }
  const auto outcome =
      receive_all(connections_.control, message.subspan(filled), monotonic_ns() + stall_ns_);
  if (outcome != Transfer::done)
    fail(outcome == Transfer::late ? "tcp-stalled" : "tcp-lost", sentence(outcome));
}

void TcpLink::fail(const std::string& code, const std::string& what) const {
  throw cannot_measure(code, peer_ + " " + what);
}

void TcpLink::unsupported() const {
  throw cannot_measure("unsupported",
                       "tcp has no remote memory access; measure put and get with transport mpi");
}

void TcpLink::put(const std::byte*, std::size_t, std::size_t) { unsupported(); }
void TcpLink::get(std::byte*, std::size_t, std::size_t) { unsupported(); }
void TcpLink::flush() { unsupported(); }
std::byte* TcpLink::expose(WindowKind, std::size_t) { unsupported(); }
void TcpLink::synchronise_window() { unsupported(); }
void TcpLink::conceal() { unsupported(); }

}  // namespace wireproof::tcp
