// ring: every member sends to its right and to its left neighbour and receives from both. An
// operation is two messages per member. No member can run ahead of its neighbours by more than one
// operation, because the next one needs their messages.
//
// Members that begin at different times stay apart: if a neighbour is half a turn late, turns
// alternately last twice as long and no time at all. Two turns together last the same for all
// members once the delay of the latest member has passed through half of the ring. So a granule is
// two turns, and a segment of few turns begins with a lead-in of half a ring (Baccelli et al.,
// Synchronization and Linearity, 1992: the cyclicity and the transient of a (max, +) recursion).
#pragma once

#include <algorithm>

#include "pattern/group/batches.hpp"
#include "pattern/group/payload_seed.hpp"
#include "pattern/group/shape.hpp"
#include "transport/group_concept.hpp"

namespace wireproof {

/// One message each way with both neighbours, one neighbour after the other.
struct VerifyRing {
  template <GroupLink L>
  static bool run(L& link, const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    // With two members both neighbours are the same member, so the direction distinguishes the
    // messages.
    const bool from_left = pass(link, b, s, s.right, s.left, seed);
    const bool from_right = pass(link, b, s, s.left, s.right, ~seed);
    return from_left && from_right;
  }

 private:
  template <GroupLink L>
  static bool pass(L& link, const Buffers& b, const GroupShape& s, int to, int from,
                   std::uint64_t seed) {
    const std::uint64_t expected = payload_seed(seed, from, s.member);
    fill_payload({b.source, s.bytes}, payload_seed(seed, s.member, to));
    poison_payload({b.sink, s.bytes}, expected);
    link.sendrecv(to, b.source, from, b.sink, s.bytes);
    return payload_is({b.sink, s.bytes}, expected);
  }
};

struct RingTraffic {
  static Traffic traffic(const GroupShape& s, int) { return {2 * s.bytes, 2 * s.bytes}; }
  static constexpr std::uint64_t messages(const GroupShape& s) {
    return 2 * static_cast<std::uint64_t>(s.members);
  }
};

template <GroupLink L, class C>
struct Ring : RingTraffic {
  using Verify = VerifyRing;
  static constexpr int kTurns = 2;  // in a granule

  static GroupLayout layout(const GroupShape& s) {
    return {.granule = kTurns,
            .slots = 4,
            .sink_messages = 2,
            .settle = (s.members / 2 + kTurns - 1) / kTurns,
            .messages = messages(s)};
  }

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* stamps) {
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      turns(link, b, s, kTurns * count);
    };
    return time_batches(link, clock, segment, stamps, advance, [] {});
  }

  [[gnu::always_inline]] static void turns(L& link, const Buffers& b, const GroupShape& s,
                                           std::uint64_t count) {
    std::byte* const second = b.sink_slot(1);
    for (std::uint64_t i = 0; i < count; ++i) {
      link.post_recv(0, s.left, b.sink, s.bytes);
      link.post_recv(1, s.right, second, s.bytes);
      link.post_send(2, s.right, b.source, s.bytes);
      link.post_send(3, s.left, b.source, s.bytes);
      link.wait(0, 4);
    }
  }
};

/// HPCC's ring (bench_lat_bw 1.5.2): one untimed and L timed turns by MPI_Sendrecv to the right and
/// then to the left, and the same again by four non-blocking calls, without a pause between the
/// two. Batch 0 is the first loop's time, batch 1 the shorter of the two: each member computes its
/// own minimum.
template <GroupLink L, class C>
struct HpccRing : RingTraffic {
  using Verify = VerifyRing;

  static GroupLayout layout(const GroupShape& s) {
    return {.slots = 4, .sink_messages = 2, .messages = messages(s)};
  }

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* sums) {
    link.barrier();
    sendrecvs(link, b, s, 1);
    const Ticks start = clock.now();
    sendrecvs(link, b, s, segment.granules);
    sums[0] = clock.now() - start;
    nonblocking(link, b, s, 1);
    const Ticks again = clock.now();
    nonblocking(link, b, s, segment.granules);
    const Ticks second = clock.now() - again;
    sums[1] = std::min(sums[0], second);
    return sums[0] + second;
  }

 private:
  [[gnu::always_inline]] static void sendrecvs(L& link, const Buffers& b, const GroupShape& s,
                                               std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      mark(b, s);
      link.sendrecv(s.right, b.source, s.left, b.sink, s.bytes);
      link.sendrecv(s.left, b.source, s.right, b.sink_slot(1), s.bytes);
      look(b, s);
    }
  }
  [[gnu::always_inline]] static void nonblocking(L& link, const Buffers& b, const GroupShape& s,
                                                 std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      mark(b, s);
      Ring<L, C>::turns(link, b, s, 1);
      look(b, s);
    }
  }
  /// HPCC writes the first and last byte of both messages, and reads those of both received
  /// messages.
  [[gnu::always_inline]] static void mark(const Buffers& b, const GroupShape& s) {
    volatile std::byte* const out = b.source;
    out[0] = std::byte{1};
    out[s.bytes - 1] = std::byte{2};
    out[0] = std::byte{3};
    out[s.bytes - 1] = std::byte{4};
  }
  [[gnu::always_inline]] static void look(const Buffers& b, const GroupShape& s) {
    const volatile std::byte* const left = b.sink;
    const volatile std::byte* const right = b.sink_slot(1);
    (void)left[0];
    (void)left[s.bytes - 1];
    (void)right[0];
    (void)right[s.bytes - 1];
  }
};

}  // namespace wireproof
