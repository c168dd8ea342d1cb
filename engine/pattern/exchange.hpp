// exchange: both directions at the same time. Operation = one message each way.
//
// Both ends run the same loop over two halves of the window. No acknowledgement is needed: an end
// posts its half k+2 only after the peer's half k has arrived, so receiving half k+2 proves that
// half k was delivered.
#pragma once

#include <algorithm>

#include "pattern/payload.hpp"
#include "pattern/shape.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// Both payloads are in flight at the same time.
struct VerifyCrossing {
  static constexpr int kForward = 1;
  static constexpr int kBackward = 1;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    return cross(link, b, s, seed, ~seed);
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    return cross(link, b, s, ~seed, seed);
  }

 private:
  template <Link L>
  static bool cross(L& link, const Buffers& b, const PointShape& s, std::uint64_t outgoing,
                    std::uint64_t incoming) {
    fill_payload({b.source, s.bytes}, outgoing);
    poison_payload({b.sink, s.bytes}, incoming);
    link.post_recv(1, b.sink, s.bytes);
    link.post_send(0, b.source, s.bytes);
    link.wait(0, 2);
    return payload_is({b.sink, s.bytes}, incoming);
  }
};

template <Link L, class C>
struct Exchange {
  using Verify = VerifyCrossing;

  static int half(const PointShape& s) { return std::max(1, s.window / 2); }
  static Layout layout(const PointShape& s) {
    return {
        .granule = half(s), .slots = 4 * half(s), .sink_messages = 2 * half(s), .pipelined = true};
  }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* stamps) {
    End end{link, b, s.bytes, half(s), segment.total(), segment.total()};
    end.post_receives();
    end.post_receives();
    link.recv_ack();
    *stamps = clock.now();
    end.post_sends();
    end.advance(segment.lead_in);
    if (segment.lead_in != 0) *stamps = clock.now();  // otherwise nothing was in flight before
    for (Ticks* const last = stamps + segment.batches; stamps != last;) {
      end.advance(segment.granules);
      *++stamps = clock.now();
    }
    end.advance(segment.trail);
  }

  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                                        const Segment& segment) {
    End end{link, b, s.bytes, half(s), segment.total(), segment.total()};
    end.post_receives();
    end.post_receives();
    Ticks start = clock.now();
    link.send_ack();
    end.post_sends();
    end.advance(segment.lead_in);
    if (segment.lead_in != 0) start = clock.now();
    end.advance(segment.timed());
    const Ticks stop = clock.now();
    end.advance(segment.trail);
    return stop - start;
  }

 private:
  /// Slots of one half: its sends, then its receives, so that one wait covers both.
  struct End {
    L& link;
    const Buffers& b;
    std::size_t bytes;
    int half;
    std::uint64_t sends_left;
    std::uint64_t receives_left;
    int send_at = 0;
    int receive_at = 0;
    int oldest = 0;

    [[gnu::always_inline]] void post_sends() {
      if (sends_left == 0) return;
      --sends_left;
      for (int i = 0; i < half; ++i) link.post_send(send_at + i, b.source, bytes);
      send_at = 2 * half - send_at;
    }
    [[gnu::always_inline]] void post_receives() {
      if (receives_left == 0) return;
      --receives_left;
      std::byte* const sink = b.sink_slot(receive_at == 0 ? 0 : half);
      for (int i = 0; i < half; ++i) {
        link.post_recv(receive_at + half + i, sink + static_cast<std::size_t>(i) * b.stride, bytes);
      }
      receive_at = 2 * half - receive_at;
    }
    [[gnu::always_inline]] void advance(std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        post_sends();
        link.wait(oldest, 2 * half);
        oldest = 2 * half - oldest;
        post_receives();
      }
    }
  };
};

}  // namespace wireproof
