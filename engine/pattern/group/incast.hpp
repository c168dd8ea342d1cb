// incast: members 1 .. n-1 all stream to member 0. An operation is one message of every sender.
#pragma once

#include <algorithm>

#include "pattern/group/batches.hpp"
#include "pattern/group/halves.hpp"
#include "pattern/group/payload_seed.hpp"

namespace wireproof {

struct VerifyIncast {
  template <GroupLink L>
  static bool run(L& link, const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    if (s.member != 0) {
      fill_payload({b.source, s.bytes}, payload_seed(seed, s.member, 0));
      link.send(0, b.source, s.bytes);
      return true;
    }
    bool good = true;
    for (int from = 1; from < s.members; ++from) {
      const std::uint64_t expected = payload_seed(seed, from, 0);
      poison_payload({b.sink, s.bytes}, expected);
      link.recv(from, b.sink, s.bytes);
      good &= payload_is({b.sink, s.bytes}, expected);
    }
    return good;
  }
};

template <GroupLink L, class C>
struct Incast {
  using Verify = VerifyIncast;

  static Traffic traffic(const GroupShape& s, int member) {
    const auto senders = static_cast<std::uint64_t>(s.members - 1);
    return member == 0 ? Traffic{0, senders * s.bytes} : Traffic{s.bytes, 0};
  }
  static GroupLayout layout(const GroupShape& s) {
    const int senders = s.members - 1;
    const int each = 2 * half_window(s);
    return {.granule = half_window(s),
            .slots = s.member == 0 ? each * senders : each,
            .sink_messages = s.member == 0 && !shares(s) ? each * senders : each,
            .pipelined = true,
            .messages = static_cast<std::uint64_t>(senders)};
  }

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* stamps) {
    if (s.member == 0) return receive(link, clock, b, s, segment, stamps);
    SendingHalves<L> end{link, b, s.bytes, half_window(s), 0, segment.total()};
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      end.advance(count);
    };
    return time_batches(link, clock, segment, stamps, advance, [&] { end.post(); });
  }

 private:
  /// Separate receive buffers would not fit, so all senders' messages arrive in the buffers of one.
  /// They are not read there; the payload check uses one sender after another.
  static bool shares(const GroupShape& s) {
    constexpr std::size_t kMostSinkBytes = std::size_t{64} << 20;
    const auto messages =
        static_cast<std::size_t>(s.members - 1) * static_cast<std::size_t>(2 * half_window(s));
    return messages * std::max<std::size_t>(64, s.bytes) > kMostSinkBytes;
  }

  [[gnu::noinline]] static Ticks receive(L& link, C clock, const Buffers& b, const GroupShape& s,
                                         const Segment& segment, Ticks* stamps) {
    const int half = half_window(s);
    ReceivingHalves<L> end{
        link, b, s.bytes, half, 1, s.members - 1, shares(s) ? 0 : 2 * half, segment.total()};
    end.post_all();
    end.post_all();
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      end.advance(count);
    };
    return time_batches(link, clock, segment, stamps, advance, [] {});
  }
};

}  // namespace wireproof
