// One member of a group that measures together (rings, many pairs, incast, collectives). Like a
// Link, a GroupLink is a plain class, never virtual, and the patterns' timed loops are templates
// over it.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>

namespace wireproof {

/// One member; peers are identified by their number in the group, [0, members()).
///
/// Timed (no allocation, no lock, no I/O except the transport's):
/// * `send`/`recv`, `post_send`/`post_recv`, `wait`: like a Link's, with the peer. Messages between
/// the same two members match in order.
/// * `sendrecv`: both at once, blocking, of the same size.
/// * `send_ack`/`recv_ack`: a smallest possible message that no `recv` can match.
/// * `barrier`: all members, without sleeping; directly before timed code.
///
/// Untimed:
/// * `reserve(slots)`: before the first use of slots below that number.
/// * `send_control`/`recv_control`: ordered, reliable, of a size known to both ends, on a separate
/// channel. The receiver does not burn its core during long waits.
///
/// A link for collectives is a separate concept (`CollectiveLink: GroupLink` and its calls), so
/// that a transport may have only one of them.
template <class L>
concept GroupLink = requires(L& link, int peer, int slot, int count, const std::byte* source,
                             std::byte* sink, std::size_t bytes,
                             std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  { link.member() } -> std::same_as<int>;
  { link.members() } -> std::same_as<int>;
  link.send(peer, source, bytes);
  link.recv(peer, sink, bytes);
  link.sendrecv(peer, source, peer, sink, bytes);
  link.post_send(slot, peer, source, bytes);
  link.post_recv(slot, peer, sink, bytes);
  link.wait(slot, count);
  link.send_ack(peer);
  link.recv_ack(peer);
  link.barrier();
  link.reserve(count);
  link.send_control(peer, outgoing);
  link.recv_control(peer, incoming);
};

class GroupEnd;

/// The program of one member; each gets its own end.
using GroupRole = std::function<void(GroupEnd&)>;

}  // namespace wireproof
