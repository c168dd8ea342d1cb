// put, get: one remote access per operation. Form latency flushes each access, form stream flushes
// each window. The target's processor starts nothing; it waits for one acknowledgement after the
// timed part, inside its library and without sleeping, so that the library makes progress if the
// network cannot do that alone.
#pragma once

#include <array>

#include "pattern/payload.hpp"
#include "pattern/shape.hpp"
#include "transport/concept.hpp"

namespace wireproof {

struct RemotePut {
  template <Link L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, std::size_t bytes, int slot) {
    link.put(b.source, bytes, static_cast<std::size_t>(slot) * b.stride);
  }
};

struct RemoteGet {
  template <Link L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, std::size_t bytes, int slot) {
    link.get(b.sink_slot(slot), bytes, static_cast<std::size_t>(slot) * b.stride);
  }
};

/// A word on the control channel that orders remote accesses against local ones.
template <Link L>
void signal_peer(L& link) {
  const std::array<std::byte, 1> word{};
  link.send_control(word);
}
template <Link L>
void await_peer(L& link) {
  std::array<std::byte, 1> word{};
  link.recv_control(word);
}

struct VerifyPut {
  static constexpr int kForward = 1;
  static constexpr int kBackward = 0;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    fill_payload({b.source, s.bytes}, seed);
    await_peer(link);
    link.put(b.source, s.bytes, 0);
    link.flush();
    signal_peer(link);
    return true;
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    poison_payload({b.window, s.bytes}, seed);
    link.synchronise_window();
    signal_peer(link);
    await_peer(link);
    link.synchronise_window();
    return payload_is({b.window, s.bytes}, seed);
  }
};

struct VerifyGet {
  static constexpr int kForward = 0;
  static constexpr int kBackward = 1;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    poison_payload({b.sink, s.bytes}, seed);
    await_peer(link);
    link.get(b.sink, s.bytes, 0);
    link.flush();
    return payload_is({b.sink, s.bytes}, seed);
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    fill_payload({b.window, s.bytes}, seed);
    link.synchronise_window();
    signal_peer(link);
    return true;
  }
};

/// `Access` is RemotePut or RemoteGet; the window is 1 in the latency form.
template <Link L, class C, class Access, class Check, bool kEach>
struct Remote {
  using Verify = Check;

  static int window(const PointShape& s) { return kEach ? 1 : s.window; }
  static Layout layout(const PointShape& s) {
    return {
        .granule = window(s), .slots = 0, .sink_messages = window(s), .window_messages = window(s)};
  }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers& b, const PointShape& s,
                                          const Segment& segment, Ticks* stamps) {
    const int count = window(s);
    windows(link, b, s.bytes, count, segment.lead_in);
    *stamps = clock.now();
    for (Ticks* const end = stamps + segment.batches; stamps != end;) {
      windows(link, b, s.bytes, count, segment.granules);
      *++stamps = clock.now();
    }
    windows(link, b, s.bytes, count, segment.trail);
    link.send_ack();
  }

  static Ticks answer(L& link, C, const Buffers&, const PointShape&, const Segment&) {
    link.recv_ack();
    return 0;
  }

 private:
  [[gnu::always_inline]] static void windows(L& link, const Buffers& b, std::size_t bytes,
                                             int window, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      for (int slot = 0; slot < window; ++slot) Access::start(link, b, bytes, slot);
      link.flush();
    }
  }
};

template <Link L, class C>
using PutLatency = Remote<L, C, RemotePut, VerifyPut, true>;
template <Link L, class C>
using PutStream = Remote<L, C, RemotePut, VerifyPut, false>;
template <Link L, class C>
using GetLatency = Remote<L, C, RemoteGet, VerifyGet, true>;
template <Link L, class C>
using GetStream = Remote<L, C, RemoteGet, VerifyGet, false>;

}  // namespace wireproof
