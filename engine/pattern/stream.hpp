// stream: one direction, acknowledged by the receiver. Operation = one message.
//
// The window is split in two halves so that the pipe never drains: half k+1 is posted before the
// acknowledgement of half k is awaited, and the receiver posts the receives of half k+2 before it
// acknowledges half k. A batch is timed from one acknowledgement to another, all at the origin.
//
// The library determines the part of half k+1 that has arrived when half k is acknowledged: nothing
// if messages go one after another, all of it if the pieces of both alternate. So edges are whole
// windows apart, and a segment either ends as it begins, with a full pipe (lead-in and trail), or
// begins and ends with an empty pipe. Only then do the timed messages equal the transferred
// messages.
#pragma once

#include <algorithm>

#include "pattern/payload.hpp"
#include "pattern/shape.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// A few messages into distinct slots, posted as the pattern posts them.
struct VerifyForward {
  static constexpr int kMessages = 2;
  static constexpr int kForward = kMessages;
  static constexpr int kBackward = 0;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    link.recv_ack();
    for (int i = 0; i < kMessages; ++i) {
      fill_payload({b.source, s.bytes}, seed + static_cast<std::uint64_t>(i));
      link.post_send(0, b.source, s.bytes);
      link.wait(0, 1);
    }
    link.recv_ack();
    return true;
  }

  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    for (int i = 0; i < kMessages; ++i) {
      poison_payload({b.sink_slot(i), s.bytes}, seed + static_cast<std::uint64_t>(i));
      link.post_recv(i, b.sink_slot(i), s.bytes);
    }
    link.send_ack();
    link.wait(0, kMessages);
    bool good = true;
    for (int i = 0; i < kMessages; ++i) {
      good &= payload_is({b.sink_slot(i), s.bytes}, seed + static_cast<std::uint64_t>(i));
    }
    link.send_ack();
    return good;
  }
};

/// How the operations of a window are started: one by one here, in other ways in
/// pattern/prepared.hpp.
struct PostEach {
  template <Link L>
  [[gnu::always_inline]] static void sends(L& link, const Buffers& b, const PointShape& s,
                                           int first, int count) {
    for (int i = 0; i < count; ++i) link.post_send(first + i, b.source, s.bytes);
  }
  template <Link L>
  [[gnu::always_inline]] static void receives(L& link, const Buffers& b, const PointShape& s,
                                              int first, int count) {
    for (int i = 0; i < count; ++i) link.post_recv(first + i, b.sink_slot(first + i), s.bytes);
  }
};

template <Link L, class C, class Posting>
struct StreamBy {
  using Verify = VerifyForward;

  static int half(const PointShape& s) { return std::max(1, s.window / 2); }
  static Layout layout(const PointShape& s) {
    return {
        .granule = half(s), .slots = 2 * half(s), .sink_messages = 2 * half(s), .pipelined = true};
  }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* stamps) {
    Origin end{link, b, s, half(s), segment.total()};
    link.recv_ack();  // the receiver has posted both halves
    const Ticks empty = clock.now();
    end.post();
    end.advance(segment.lead_in);
    *stamps = first_edge(segment, empty, clock.now());
    for (Ticks* const last = stamps + segment.batches; stamps != last;) {
      end.advance(segment.granules);
      *++stamps = clock.now();
    }
    end.advance(segment.trail);
  }

  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                                        const Segment& segment) {
    Target end{link, b, s, half(s), segment.total()};
    end.post();
    end.post();
    const Ticks empty = clock.now();
    link.send_ack();
    end.advance(segment.lead_in);
    const Ticks start = first_edge(segment, empty, clock.now());
    end.advance(segment.timed());
    const Ticks stop = clock.now();
    end.advance(segment.trail);
    return stop - start;
  }

 private:
  /// State of the two halves at the sending end; at most two halves are in flight.
  struct Origin {
    L& link;
    const Buffers& b;
    const PointShape& shape;
    int half;
    std::uint64_t to_post;
    int next = 0;    // first slot of the half to post next
    int oldest = 0;  // first slot of the half whose acknowledgement is due next

    [[gnu::always_inline]] void post() {
      if (to_post == 0) return;
      --to_post;
      Posting::sends(link, b, shape, next, half);
      next = half - next;
    }
    [[gnu::always_inline]] void advance(std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        post();
        link.wait(oldest, half);
        link.recv_ack();
        oldest = half - oldest;
      }
    }
  };

  struct Target {
    L& link;
    const Buffers& b;
    const PointShape& shape;
    int half;
    std::uint64_t to_post;
    int next = 0;
    int oldest = 0;

    [[gnu::always_inline]] void post() {
      if (to_post == 0) return;
      --to_post;
      Posting::receives(link, b, shape, next, half);
      next = half - next;
    }
    [[gnu::always_inline]] void advance(std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        link.wait(oldest, half);
        oldest = half - oldest;
        post();
        link.send_ack();
      }
    }
  };
};

template <Link L, class C>
using Stream = StreamBy<L, C, PostEach>;

}  // namespace wireproof
