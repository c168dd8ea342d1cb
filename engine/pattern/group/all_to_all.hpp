// all_to_all: every member sends one message to every other member. An operation is n - 1 messages
// per member, by shifts: in round r a member sends to the r-th member after it and receives from
// the r-th before it, so that no member is the target of two at the same time. At most a window of
// rounds is in flight.
#pragma once

#include <algorithm>

#include "pattern/group/batches.hpp"
#include "pattern/group/payload_seed.hpp"
#include "pattern/group/shape.hpp"
#include "transport/group_concept.hpp"

namespace wireproof {

constexpr int shifted(const GroupShape& s, int rounds) {
  const int at = s.member + rounds;
  return at >= s.members ? at - s.members : (at < 0 ? at + s.members : at);
}

struct VerifyAllToAll {
  template <GroupLink L>
  static bool run(L& link, const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    bool good = true;
    for (int round = 1; round < s.members; ++round) {
      const int to = shifted(s, round);
      const int from = shifted(s, -round);
      const std::uint64_t expected = payload_seed(seed, from, s.member);
      fill_payload({b.source, s.bytes}, payload_seed(seed, s.member, to));
      poison_payload({b.sink, s.bytes}, expected);
      link.sendrecv(to, b.source, from, b.sink, s.bytes);
      good &= payload_is({b.sink, s.bytes}, expected);
    }
    return good;
  }
};

template <GroupLink L, class C>
struct AllToAll {
  using Verify = VerifyAllToAll;

  static Traffic traffic(const GroupShape& s, int) {
    const std::uint64_t each = static_cast<std::uint64_t>(s.members - 1) * s.bytes;
    return {each, each};
  }
  static GroupLayout layout(const GroupShape& s) {
    return {.slots = 2 * s.window,
            .sink_messages = s.window,
            .messages =
                static_cast<std::uint64_t>(s.members) * static_cast<std::uint64_t>(s.members - 1)};
  }

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* stamps) {
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      for (std::uint64_t i = 0; i < count; ++i) exchange(link, b, s);
    };
    return time_batches(link, clock, segment, stamps, advance, [] {});
  }

 private:
  [[gnu::always_inline]] static void exchange(L& link, const Buffers& b, const GroupShape& s) {
    for (int first = 1; first < s.members; first += s.window) {
      const int rounds = std::min(s.window, s.members - first);
      for (int i = 0; i < rounds; ++i) {
        link.post_recv(i, shifted(s, -(first + i)), b.sink_slot(i), s.bytes);
        link.post_send(rounds + i, shifted(s, first + i), b.source, s.bytes);
      }
      link.wait(0, 2 * rounds);
    }
  }
};

}  // namespace wireproof
