// pingpong: one message in each direction. An operation is one round trip.
#pragma once

#include "pattern/payload.hpp"
#include "pattern/shape.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// New payloads in both directions. The loops of this pattern and those of the suites share it.
struct VerifyBothWays {
  static constexpr int kForward = 1;
  static constexpr int kBackward = 1;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    fill_payload({b.source, s.bytes}, seed);
    poison_payload({b.sink, s.bytes}, ~seed);
    link.send(b.source, s.bytes);
    link.recv(b.sink, s.bytes);
    return payload_is({b.sink, s.bytes}, ~seed);
  }

  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    poison_payload({b.sink, s.bytes}, seed);
    fill_payload({b.source, s.bytes}, ~seed);
    link.recv(b.sink, s.bytes);
    link.send(b.source, s.bytes);
    return payload_is({b.sink, s.bytes}, seed);
  }
};

template <Link L, class C>
struct PingPong {
  using Verify = VerifyBothWays;

  static Layout layout(const PointShape&) { return {}; }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* stamps) {
    trips(link, b, s.bytes, segment.lead_in);
    *stamps = clock.now();
    for (Ticks* const end = stamps + segment.batches; stamps != end;) {
      trips(link, b, s.bytes, segment.granules);
      *++stamps = clock.now();
    }
    trips(link, b, s.bytes, segment.trail);
  }

  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers& b, const PointShape& s,
                                        const Segment& segment) {
    replies(link, b, s.bytes, segment.lead_in);
    const Ticks start = clock.now();
    replies(link, b, s.bytes, segment.timed());
    const Ticks end = clock.now();
    replies(link, b, s.bytes, segment.trail);
    return end - start;
  }

 private:
  [[gnu::always_inline]] static void trips(L& link, const Buffers& b, std::size_t bytes,
                                           std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      link.send(b.source, bytes);
      link.recv(b.sink, bytes);
    }
  }
  [[gnu::always_inline]] static void replies(L& link, const Buffers& b, std::size_t bytes,
                                             std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      link.recv(b.sink, bytes);
      link.send(b.source, bytes);
    }
  }
};

}  // namespace wireproof
