// The library's collectives: the definition of a call, the minimum number of bytes that it must
// move, and the check of its result.
#pragma once

#include <cstdint>

#include "pattern/group/float_payload.hpp"
#include "pattern/group/payload_seed.hpp"
#include "pattern/group/shape.hpp"
#include "transport/collective_concept.hpp"

namespace wireproof {

/// Memory that a collective needs, in blocks of the message size.
struct Blocks {
  int source = 1;
  int sink = 1;
};

/// `kPaced`: no member can begin the next call before all have begun the current one, so calls can
/// follow each other and be timed together.
struct BarrierCall {
  static constexpr bool kPaced = true;
  static Blocks blocks(int) { return {}; }
  static Traffic traffic(const GroupShape&, int) { return {}; }

  template <class L>
  [[gnu::always_inline]] static void call(L& link, const Buffers&, const GroupShape&) {
    link.meet();
  }
  template <class L>
  [[gnu::always_inline]] static void start(L& link, const Buffers&, const GroupShape&) {
    link.start_meet(0);
  }
  /// A barrier has no data to check.
  static void fill(const Buffers&, const GroupShape&, std::uint64_t) {}
  static bool is_right(const Buffers&, const GroupShape&, std::uint64_t) { return true; }
};

struct BroadcastCall {
  static constexpr bool kPaced = false;  // the root could run ahead of the others
  static Blocks blocks(int) { return {}; }
  static Traffic traffic(const GroupShape& s, int member) {
    return member == 0 ? Traffic{s.bytes, 0} : Traffic{0, s.bytes};
  }

  template <class L>
  [[gnu::always_inline]] static void call(L& link, const Buffers& b, const GroupShape& s) {
    link.broadcast(b.sink, s.bytes);
  }
  template <class L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, const GroupShape& s) {
    link.start_broadcast(0, b.sink, s.bytes);
  }
  static void fill(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    if (s.member == 0) {
      fill_payload({b.sink, s.bytes}, payload_seed(seed, 0, 0));
    } else {
      poison_payload({b.sink, s.bytes}, payload_seed(seed, 0, 0));
    }
  }
  static bool is_right(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    return payload_is({b.sink, s.bytes}, payload_seed(seed, 0, 0));
  }
};

struct AllreduceCall {
  static constexpr bool kPaced = true;
  static Blocks blocks(int) { return {}; }
  static Traffic traffic(const GroupShape& s, int) { return {s.bytes, s.bytes}; }

  template <class L>
  [[gnu::always_inline]] static void call(L& link, const Buffers& b, const GroupShape& s) {
    link.allreduce(b.source, b.sink, s.bytes);
  }
  template <class L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, const GroupShape& s) {
    link.start_allreduce(0, b.source, b.sink, s.bytes);
  }
  static void fill(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    fill_addends({b.source, s.bytes}, seed, s.member);
    poison_payload({b.sink, s.bytes}, seed);
  }
  static bool is_right(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    return sums_are({b.sink, s.bytes}, seed, s.members);
  }
};

/// The block of each member at each member.
struct AllgatherCall {
  static constexpr bool kPaced = true;
  static Blocks blocks(int members) { return {1, members}; }
  static Traffic traffic(const GroupShape& s, int) {
    return {s.bytes, static_cast<std::uint64_t>(s.members - 1) * s.bytes};
  }

  template <class L>
  [[gnu::always_inline]] static void call(L& link, const Buffers& b, const GroupShape& s) {
    link.allgather(b.source, b.sink, s.bytes);
  }
  template <class L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, const GroupShape& s) {
    link.start_allgather(0, b.source, b.sink, s.bytes);
  }
  static void fill(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    fill_payload({b.source, s.bytes}, payload_seed(seed, s.member, 0));
    for (int from = 0; from < s.members; ++from) {
      poison_payload({b.sink_slot(from), s.bytes}, payload_seed(seed, from, 0));
    }
  }
  static bool is_right(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    bool good = true;
    for (int from = 0; from < s.members; ++from) {
      good &= payload_is({b.sink_slot(from), s.bytes}, payload_seed(seed, from, 0));
    }
    return good;
  }
};

/// Block j of member i becomes block i of member j.
struct AlltoallCall {
  static constexpr bool kPaced = true;
  static Blocks blocks(int members) { return {members, members}; }
  static Traffic traffic(const GroupShape& s, int) {
    const std::uint64_t each = static_cast<std::uint64_t>(s.members - 1) * s.bytes;
    return {each, each};
  }

  template <class L>
  [[gnu::always_inline]] static void call(L& link, const Buffers& b, const GroupShape& s) {
    link.alltoall(b.source, b.sink, s.bytes);
  }
  template <class L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, const GroupShape& s) {
    link.start_alltoall(0, b.source, b.sink, s.bytes);
  }
  static void fill(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    for (int other = 0; other < s.members; ++other) {
      std::byte* const source = b.source + static_cast<std::size_t>(other) * b.stride;
      fill_payload({source, s.bytes}, payload_seed(seed, s.member, other));
      poison_payload({b.sink_slot(other), s.bytes}, payload_seed(seed, other, s.member));
    }
  }
  static bool is_right(const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    bool good = true;
    for (int from = 0; from < s.members; ++from) {
      good &= payload_is({b.sink_slot(from), s.bytes}, payload_seed(seed, from, s.member));
    }
    return good;
  }
};

}  // namespace wireproof
