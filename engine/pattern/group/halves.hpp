// Streams inside a group: the two halves of a window as in pattern/stream.hpp, to one receiver and
// from several senders at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pattern/group/shape.hpp"
#include "pattern/shape.hpp"
#include "transport/group_concept.hpp"

namespace wireproof {

constexpr int half_window(const GroupShape& s) { return s.window > 1 ? s.window / 2 : 1; }

/// The sending end posts half k+1 before it waits for the acknowledgement of half k.
template <GroupLink L>
struct SendingHalves {
  L& link;
  const Buffers& b;
  std::size_t bytes;
  int half;
  int to;
  std::uint64_t to_post;
  int next = 0;    // first slot of the half to post next
  int oldest = 0;  // first slot of the half whose acknowledgement is due next

  [[gnu::always_inline]] void post() {
    if (to_post == 0) return;
    --to_post;
    for (int i = 0; i < half; ++i) link.post_send(next + i, to, b.source, bytes);
    next = half - next;
  }
  [[gnu::always_inline]] void advance(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      post();
      link.wait(oldest, half);
      link.recv_ack(to);
      oldest = half - oldest;
    }
  }
};

/// The receiving end of `senders` members from `first` on; all of them are at the same half.
template <GroupLink L>
struct ReceivingHalves {
  L& link;
  const Buffers& b;
  std::size_t bytes;
  int half;
  int first;
  int senders;
  int sink_step;  // receive buffers between two senders; 0: they share
  std::uint64_t to_post;
  int next = 0;
  int oldest = 0;

  [[gnu::always_inline]] void post_from(int sender) {
    const int slot = sender * 2 * half + next;
    std::byte* const sink = b.sink_slot(sender * sink_step + next);
    for (int i = 0; i < half; ++i) {
      link.post_recv(slot + i, first + sender, sink + static_cast<std::size_t>(i) * b.stride,
                     bytes);
    }
  }
  /// Called twice before the first operation.
  void post_all() {
    if (to_post == 0) return;
    --to_post;
    for (int sender = 0; sender < senders; ++sender) post_from(sender);
    next = half - next;
  }
  [[gnu::always_inline]] void advance(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool more = to_post > 0;
      for (int sender = 0; sender < senders; ++sender) {
        link.wait(sender * 2 * half + oldest, half);
        if (more) post_from(sender);
        link.send_ack(first + sender);
      }
      to_post -= more ? 1 : 0;
      next = more ? half - next : next;
      oldest = half - oldest;
    }
  }
};

}  // namespace wireproof
