// The loops of OSU 7.4 and IMB 2021, so that a user can reproduce the familiar numbers. Written
// from their definitions (timed part, window, acknowledgements); remote access needs no separate
// loop, since OSU's loop is wireproof's with one timer over everything.
#pragma once

#include <utility>

#include "pattern/exchange.hpp"
#include "pattern/pingpong.hpp"
#include "pattern/stream.hpp"

namespace wireproof {

/// osu_latency 7.x: two clock readings inside every iteration, their differences summed.
template <Link L, class C>
struct OsuPingPong {
  using Verify = VerifyBothWays;
  static Layout layout(const PointShape&) { return {}; }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* sums) {
    for (std::uint32_t i = 0; i < segment.lead_in; ++i) trip(link, clock, b, s.bytes);
    for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
      Ticks sum = 0;
      for (std::uint32_t i = 0; i < segment.granules; ++i) sum += trip(link, clock, b, s.bytes);
      sums[batch] = sum;
    }
  }
  static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                      const Segment& segment) {
    return PingPong<L, C>::answer(link, clock, b, s, segment);
  }

 private:
  [[gnu::always_inline]] static Ticks trip(L& link, C clock, const Buffers& b, std::size_t bytes) {
    const Ticks start = clock.now();
    link.send(b.source, bytes);
    link.recv(b.sink, bytes);
    return clock.now() - start;
  }
};

/// IMB-P2P PingPong: one byte per 64-byte line of both buffers is touched inside the timed loop
/// (-msgwr, -msgrd).
template <Link L, class C>
struct TouchingPingPong {
  using Verify = VerifyBothWays;
  static constexpr std::size_t kLine = 64;
  static Layout layout(const PointShape&) { return {}; }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* stamps) {
    trips(link, b, s.bytes, segment.lead_in);
    *stamps = clock.now();
    for (Ticks* const end = stamps + segment.batches; stamps != end;) {
      trips(link, b, s.bytes, segment.granules);
      *++stamps = clock.now();
    }
  }
  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                                        const Segment& segment) {
    replies(link, b, s.bytes, segment.lead_in);
    const Ticks start = clock.now();
    replies(link, b, s.bytes, segment.timed());
    return clock.now() - start;
  }

 private:
  static void write_lines(std::byte* buffer, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += kLine) {
      *const_cast<volatile std::byte*>(buffer + at) = std::byte{1};
    }
  }
  static void read_lines(const std::byte* buffer, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += kLine) {
      (void)*const_cast<const volatile std::byte*>(buffer + at);
    }
  }
  static void trips(L& link, const Buffers& b, std::size_t bytes, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      write_lines(b.source, bytes);
      link.send(b.source, bytes);
      link.recv(b.sink, bytes);
      read_lines(b.sink, bytes);
    }
  }
  static void replies(L& link, const Buffers& b, std::size_t bytes, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      link.recv(b.sink, bytes);
      read_lines(b.sink, bytes);
      write_lines(b.source, bytes);
      link.send(b.source, bytes);
    }
  }
};

/// osu_bw (kTimeEach: the clock runs from the first post of a window to its acknowledgement) and
/// IMB-MPI1 Uniband (one clock over everything). One buffer for all messages of a window, as in
/// both suites.
struct PostIntoOne {
  template <Link L>
  [[gnu::always_inline]] static void sends(L& link, const Buffers& b, const PointShape& s,
                                           int first, int count) {
    for (int i = first; i < first + count; ++i) link.post_send(i, b.source, s.bytes);
  }
  template <Link L>
  [[gnu::always_inline]] static void receives(L& link, const Buffers& b, const PointShape& s,
                                              int first, int count) {
    for (int i = first; i < first + count; ++i) link.post_recv(i, b.sink, s.bytes);
  }
};

/// Time since `edge`, which becomes now; adjacent batches share their edges, because a single clock
/// runs around all of them.
template <class C>
[[gnu::always_inline]] inline Ticks elapsed_since(Ticks& edge, C clock) {
  const Ticks now = clock.now();
  return now - std::exchange(edge, now);
}

template <Link L, class C, bool kTimeEach, class Posting = PostIntoOne>
struct WindowedStream {
  using Verify = VerifyForward;
  static Layout layout(const PointShape& s) {
    return {.granule = s.window, .slots = std::max(2, s.window), .sink_messages = 2};
  }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* sums) {
    link.recv_ack();
    for (std::uint32_t i = 0; i < segment.lead_in; ++i) window(link, clock, b, s);
    Ticks edge = clock.now();
    for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
      Ticks sum = 0;
      for (std::uint32_t i = 0; i < segment.granules; ++i) sum += window(link, clock, b, s);
      if constexpr (kTimeEach) {
        sums[batch] = sum;
      } else {
        sums[batch] = elapsed_since(edge, clock);
      }
    }
  }
  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                                        const Segment& segment) {
    link.send_ack();
    for (std::uint32_t i = 0; i < segment.lead_in; ++i) receive(link, b, s);
    const Ticks start = clock.now();
    for (std::uint64_t i = 0; i < segment.timed(); ++i) receive(link, b, s);
    return clock.now() - start;
  }

 private:
  [[gnu::always_inline]] static Ticks window(L& link, C clock, const Buffers& b,
                                             const PointShape& s) {
    const Ticks start = kTimeEach ? clock.now() : 0;
    Posting::sends(link, b, s, 0, s.window);
    link.wait(0, s.window);
    link.recv_ack();
    return kTimeEach ? clock.now() - start : 0;
  }
  [[gnu::always_inline]] static void receive(L& link, const Buffers& b, const PointShape& s) {
    Posting::receives(link, b, s, 0, s.window);
    link.wait(0, s.window);
    link.send_ack();
  }
};

/// osu_bibw (a window each way, the clock around each) and, with a window of 1 and one clock,
/// IMB-MPI1 Sendrecv.
template <Link L, class C, bool kTimeEach>
struct WindowedExchange {
  using Verify = VerifyCrossing;
  static int window(const PointShape& s) { return kTimeEach ? s.window : 1; }
  static Layout layout(const PointShape& s) {
    return {.granule = window(s), .slots = 2 * window(s), .sink_messages = 1};
  }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* sums) {
    link.recv_ack();
    for (std::uint32_t i = 0; i < segment.lead_in; ++i) cross(link, clock, b, s);
    Ticks edge = clock.now();
    for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
      Ticks sum = 0;
      for (std::uint32_t i = 0; i < segment.granules; ++i) sum += cross(link, clock, b, s);
      if constexpr (kTimeEach) {
        sums[batch] = sum;
      } else {
        sums[batch] = elapsed_since(edge, clock);
      }
    }
  }
  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                                        const Segment& segment) {
    link.send_ack();
    for (std::uint32_t i = 0; i < segment.lead_in; ++i) cross(link, clock, b, s);
    const Ticks start = clock.now();
    for (std::uint64_t i = 0; i < segment.timed(); ++i) cross(link, clock, b, s);
    return clock.now() - start;
  }

 private:
  [[gnu::always_inline]] static Ticks cross(L& link, C clock, const Buffers& b,
                                            const PointShape& s) {
    const int count = window(s);
    const Ticks start = kTimeEach ? clock.now() : 0;
    for (int i = 0; i < count; ++i) link.post_recv(count + i, b.sink, s.bytes);
    for (int i = 0; i < count; ++i) link.post_send(i, b.source, s.bytes);
    link.wait(0, 2 * count);
    return kTimeEach ? clock.now() - start : 0;
  }
};

template <Link L, class C>
using OsuStream = WindowedStream<L, C, true>;
template <Link L, class C>
using Uniband = WindowedStream<L, C, false>;
template <Link L, class C>
using OsuExchange = WindowedExchange<L, C, true>;
template <Link L, class C>
using Sendrecv = WindowedExchange<L, C, false>;

}  // namespace wireproof
