// persistent, partitioned: the ping-pong and the stream over requests that are created before the
// timing and only started in it.
//
// A Kind defines the meaning of "send" and "receive":
// * Persistent: MPI_Send_init and MPI_Recv_init, one MPI_Start(all) each.
// * Partitioned (MPI-4): MPI_Psend_init and MPI_Precv_init, one MPI_Start(all), MPI_Pready for each
// partition in order. In the ping-pong the receiver checks each partition with MPI_Parrived, like a
// program that processes them one by one; in the stream it waits for whole messages.
#pragma once

#include "pattern/osu_and_imb.hpp"
#include "pattern/payload.hpp"
#include "pattern/shape.hpp"
#include "pattern/stream.hpp"
#include "transport/concept.hpp"

namespace wireproof {

struct Persistent {
  template <Link L>
  static void admit(L&) {}
  template <Link L>
  static void make_send(L& link, const PointShape& s, int slot, const std::byte* source) {
    link.make_send(slot, source, s.bytes);
  }
  template <Link L>
  static void make_receive(L& link, const PointShape& s, int slot, std::byte* sink) {
    link.make_receive(slot, sink, s.bytes);
  }

  template <Link L>
  [[gnu::always_inline]] static void sends(L& link, const Buffers&, const PointShape&, int first,
                                           int count) {
    link.start(first, count);
  }
  template <Link L>
  [[gnu::always_inline]] static void receives(L& link, const Buffers&, const PointShape&, int first,
                                              int count) {
    link.start(first, count);
  }
  template <Link L>
  [[gnu::always_inline]] static void ask(L& link, const PointShape&) {
    link.start_one(0);
    link.wait(0, 1);
    link.start_one(1);
    link.wait(1, 1);
  }
  template <Link L>
  [[gnu::always_inline]] static void reply(L& link, const PointShape&) {
    link.start_one(1);
    link.wait(1, 1);
    link.start_one(0);
    link.wait(0, 1);
  }
};

struct Partitioned {
  template <Link L>
  static void admit(L& link) {
    link.admit_partitions();
  }
  template <Link L>
  static void make_send(L& link, const PointShape& s, int slot, const std::byte* source) {
    link.make_partitioned_send(slot, source, s.bytes, s.partitions);
  }
  template <Link L>
  static void make_receive(L& link, const PointShape& s, int slot, std::byte* sink) {
    link.make_partitioned_receive(slot, sink, s.bytes, s.partitions);
  }

  template <Link L>
  [[gnu::always_inline]] static void sends(L& link, const Buffers&, const PointShape& s, int first,
                                           int count) {
    link.start(first, count);
    for (int slot = first; slot < first + count; ++slot) all_ready(link, s, slot);
  }
  template <Link L>
  [[gnu::always_inline]] static void receives(L& link, const Buffers&, const PointShape&, int first,
                                              int count) {
    link.start(first, count);
  }
  template <Link L>
  [[gnu::always_inline]] static void ask(L& link, const PointShape& s) {
    link.start(0, 2);
    all_ready(link, s, 0);
    all_arrived(link, s, 1);
    link.wait(0, 2);
  }
  template <Link L>
  [[gnu::always_inline]] static void reply(L& link, const PointShape& s) {
    link.start(0, 2);
    all_arrived(link, s, 1);
    all_ready(link, s, 0);
    link.wait(0, 2);
  }

 private:
  template <Link L>
  [[gnu::always_inline]] static void all_ready(L& link, const PointShape& s, int slot) {
    for (int i = 0; i < s.partitions; ++i) link.ready(slot, i);
  }
  template <Link L>
  [[gnu::always_inline]] static void all_arrived(L& link, const PointShape& s, int slot) {
    for (int i = 0; i < s.partitions; ++i) link.await_partition(slot, i);
  }
};

/// Like VerifyBothWays, through the prepared requests.
template <class Kind>
struct VerifyPreparedTrip {
  static constexpr int kForward = 1;
  static constexpr int kBackward = 1;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    fill_payload({b.source, s.bytes}, seed);
    poison_payload({b.sink, s.bytes}, ~seed);
    Kind::ask(link, s);
    return payload_is({b.sink, s.bytes}, ~seed);
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    poison_payload({b.sink, s.bytes}, seed);
    fill_payload({b.source, s.bytes}, ~seed);
    Kind::reply(link, s);
    return payload_is({b.sink, s.bytes}, seed);
  }
};

/// Slot 0 sends, slot 1 receives, at both ends.
template <Link L, class C, class Kind, bool kTimeEach>
struct PreparedPingPong {
  using Verify = VerifyPreparedTrip<Kind>;
  static Layout layout(const PointShape&) { return {.slots = 2}; }

  static void admit(L& link) { Kind::admit(link); }
  static void prepare(L& link, const Buffers& b, const PointShape& s, bool) {
    Kind::make_send(link, s, 0, b.source);
    Kind::make_receive(link, s, 1, b.sink);
  }
  static void release(L& link, const PointShape&) { link.release(0, 2); }

  [[gnu::noinline]] static void originate(L& link, C clock, const Buffers&, const PointShape& s,
                                          const Segment& segment, Ticks* times) {
    trips(link, s, segment.lead_in);
    if constexpr (kTimeEach) {
      for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
        Ticks sum = 0;
        for (std::uint32_t i = 0; i < segment.granules; ++i) {
          const Ticks start = clock.now();
          Kind::ask(link, s);
          sum += clock.now() - start;
        }
        times[batch] = sum;
      }
    } else {
      *times = clock.now();
      for (Ticks* const end = times + segment.batches; times != end;) {
        trips(link, s, segment.granules);
        *++times = clock.now();
      }
    }
    trips(link, s, segment.trail);
  }

  [[gnu::noinline]] static Ticks answer(L& link, C clock, const Buffers&, const PointShape& s,
                                        const Segment& segment) {
    replies(link, s, segment.lead_in);
    const Ticks start = clock.now();
    replies(link, s, segment.timed());
    const Ticks end = clock.now();
    replies(link, s, segment.trail);
    return end - start;
  }

 private:
  [[gnu::always_inline]] static void trips(L& link, const PointShape& s, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) Kind::ask(link, s);
  }
  [[gnu::always_inline]] static void replies(L& link, const PointShape& s, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) Kind::reply(link, s);
  }
};

/// Like VerifyForward, through the prepared requests.
template <class Kind>
struct VerifyPreparedForward {
  static constexpr int kMessages = 2;
  static constexpr int kForward = kMessages;
  static constexpr int kBackward = 0;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    link.recv_ack();
    for (int i = 0; i < kMessages; ++i) {
      fill_payload({b.source, s.bytes}, seed + static_cast<std::uint64_t>(i));
      Kind::sends(link, b, s, i, 1);
      link.wait(i, 1);
    }
    link.recv_ack();
    return true;
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    for (int i = 0; i < kMessages; ++i) {
      poison_payload({b.sink_slot(i), s.bytes}, seed + static_cast<std::uint64_t>(i));
    }
    Kind::receives(link, b, s, 0, kMessages);
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

/// `Loops` is StreamBy or WindowedStream over Kind: one request per slot, of sends at the origin
/// and of receives at the target.
template <Link L, class Kind, class Loops>
struct PreparedStream : Loops {
  using Verify = VerifyPreparedForward<Kind>;

  static void admit(L& link) { Kind::admit(link); }
  static void prepare(L& link, const Buffers& b, const PointShape& s, bool originates) {
    const Layout layout = Loops::layout(s);
    for (int slot = 0; slot < layout.slots; ++slot) {
      if (originates) {
        Kind::make_send(link, s, slot, b.source);
      } else {
        Kind::make_receive(link, s, slot, b.sink_slot(slot % layout.sink_messages));
      }
    }
  }
  static void release(L& link, const PointShape& s) { link.release(0, Loops::layout(s).slots); }
};

template <Link L, class C>
using PersistentPingPong = PreparedPingPong<L, C, Persistent, false>;
template <Link L, class C>
using OsuPersistentPingPong = PreparedPingPong<L, C, Persistent, true>;
template <Link L, class C>
using PartitionedPingPong = PreparedPingPong<L, C, Partitioned, false>;

template <Link L, class C>
using PersistentStream = PreparedStream<L, Persistent, StreamBy<L, C, Persistent>>;
template <Link L, class C>
using OsuPersistentStream = PreparedStream<L, Persistent, WindowedStream<L, C, true, Persistent>>;
template <Link L, class C>
using PartitionedStream = PreparedStream<L, Partitioned, StreamBy<L, C, Partitioned>>;

}  // namespace wireproof
