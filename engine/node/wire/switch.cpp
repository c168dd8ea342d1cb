#include "switch.hpp"

#include <algorithm>
#include <cstring>

namespace wireproof::wire {
namespace {

constexpr std::size_t kAddressBytes = 6;
constexpr std::uint64_t kGroupBit = 1;  // in the first byte on the line: broadcast and multicast
// frames of a sender that invents addresses are flooded
constexpr std::size_t kMostAddresses = 4096;
// Capacity of the queue of a node's device: if it is full, the sender stops, and the rest waits in
// the node.
constexpr std::int64_t kDeviceBytes = 16 << 20;

}  // namespace

Switch::Switch(const std::vector<PortSettings>& ports, std::uint64_t seed, Pool& pool)
    : ports_(ports.size()), pool_(pool) {
  int domains = 0;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports_[i].tx = Line(ports[i].tx, seed + 2 * i);
    ports_[i].rx = Line(ports[i].rx, seed + 2 * i + 1);
    domains = std::max(domains, ports[i].domain + 1);
  }
  known_.resize(static_cast<std::size_t>(domains));
  set(ports);
}

void Switch::set(const std::vector<PortSettings>& ports) {
  fastest_way_out_ = 1;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ports_[i].settings = ports[i];
    ports_[i].tx.set(ports[i].tx);
    ports_[i].rx.set(ports[i].rx);
    fastest_way_out_ = std::max(fastest_way_out_, ports[i].rx.bits_per_s);
  }
}

bool Switch::may_take(std::size_t port, Nanoseconds now) {
  return ports_[port].tx.backlog(now) < kDeviceBytes && pool_.has_room();
}

Nanoseconds Switch::idle_for(std::size_t port, Nanoseconds now) const {
  return ports_[port].tx.idle_for(now);
}

void Switch::take(std::size_t port, Nanoseconds now, Frame frame) {
  Port& from = ports_[port];
  ++from.counters.tx_frames;
  from.counters.tx_bytes += frame.length;
  const Nanoseconds arrival = from.tx.transmit(now, static_cast<std::int64_t>(frame.length));
  if (from.tx.loses()) {  // it has used its time on the line nevertheless
    ++from.counters.tx_lost;
    pool_.give_back(frame.bytes);
    return;
  }
  from.arriving.push_back({frame, arrival});
}

// There are few ports, and a port with nothing in flight costs one comparison.
std::size_t Switch::first_arrival() const {
  std::size_t first = ports_.size();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i].arriving.empty()) continue;
    if (first == ports_.size() || ports_[i].arriving.front().at < ports_[first].arriving.front().at)
      first = i;
  }
  return first;
}

void Switch::advance(Nanoseconds now) {
  for (;;) {
    const std::size_t from = first_arrival();
    if (from == ports_.size() || ports_[from].arriving.front().at > now) return;
    const Due due = ports_[from].arriving.front();
    ports_[from].arriving.pop_front();
    forward(from, due);
  }
}

Switch::Address Switch::address_at(const Frame& frame, std::size_t offset) {
  Address address = 0;
  std::memcpy(&address, frame.bytes + offset, kAddressBytes);
  return address;
}

void Switch::forward(std::size_t from, Due due) {
  if (due.frame.length < 2 * kAddressBytes) return pool_.give_back(due.frame.bytes);
  const int domain = ports_[from].settings.domain;
  auto& known = known_[static_cast<std::size_t>(domain)];
  const Address source = address_at(due.frame, kAddressBytes);
  if (known.size() < kMostAddresses || known.contains(source)) known[source] = from;
  const Address target = address_at(due.frame, 0);
  const auto found = (static_cast<std::uint64_t>(due.frame.bytes[0]) & kGroupBit) != 0
                         ? known.end()
                         : known.find(target);
  if (found != known.end()) {
    if (found->second == from) return pool_.give_back(due.frame.bytes);
    return put_out(found->second, due);
  }
  for (std::size_t to = 0; to < ports_.size(); ++to) {
    if (to == from || ports_[to].settings.domain != domain) continue;
    if (const auto copy = copy_of(due.frame)) {
      put_out(to, {*copy, due.at});
    } else {
      ++ports_[to].counters.dropped;
    }
  }
  pool_.give_back(due.frame.bytes);
}

std::optional<Frame> Switch::copy_of(const Frame& frame) {
  std::byte* buffer = pool_.take();
  if (buffer == nullptr) return std::nullopt;
  std::memcpy(buffer, frame.bytes, frame.length);
  return Frame{buffer, frame.length};
}

void Switch::put_out(std::size_t to, const Due& due) {
  Port& port = ports_[to];
  const auto bytes = static_cast<std::int64_t>(due.frame.length);
  if (port.rx.backlog(due.at) + line_bytes(bytes) > port.settings.queue_bytes) {
    ++port.counters.dropped;
    return pool_.give_back(due.frame.bytes);
  }
  const Nanoseconds arrival = port.rx.transmit(due.at, bytes);
  if (port.rx.loses()) {
    ++port.counters.rx_lost;
    return pool_.give_back(due.frame.bytes);
  }
  port.delivering.push_back({due.frame, arrival});
}

std::optional<Switch::Due> Switch::next(std::size_t port, Nanoseconds now) {
  auto& queue = ports_[port].delivering;
  if (queue.empty() || queue.front().at > now) return std::nullopt;
  const Due due = queue.front();
  queue.pop_front();
  return due;
}

std::size_t Switch::under_way() const {
  std::size_t frames = 0;
  for (const Port& port : ports_) frames += port.arriving.size() + port.delivering.size();
  return frames;
}

Nanoseconds Switch::least_way_out(const Frame& frame) const {
  return line_time(static_cast<std::int64_t>(frame.length), fastest_way_out_);
}

// Frames that arrive at the switch are not processed before they could be due at a node, which
// saves a wake-up.
std::optional<Nanoseconds> Switch::next_event() const {
  std::optional<Nanoseconds> first;
  const auto consider = [&first](Nanoseconds at) { first = first ? std::min(*first, at) : at; };
  for (const Port& port : ports_) {
    if (!port.delivering.empty()) consider(port.delivering.front().at);
    if (port.arriving.empty()) continue;
    const Due& next = port.arriving.front();
    consider(next.at + least_way_out(next.frame));
  }
  return first;
}

}  // namespace wireproof::wire
