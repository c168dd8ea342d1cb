// message_rate: members 0 .. k-1 each stream to member i + k (osu_mbw_mr's pairing), all pairs at
// once. An operation is one message of every pair.
#pragma once

#include "pattern/group/batches.hpp"
#include "pattern/group/halves.hpp"
#include "pattern/group/payload_seed.hpp"

namespace wireproof {

/// The sender and the receiver of each pair.
struct RatePairs {
  static int senders(const GroupShape& s) { return s.members / 2; }
  static bool sends(const GroupShape& s) { return s.member < senders(s); }
  static int peer(const GroupShape& s) {
    return sends(s) ? s.member + senders(s) : s.member - senders(s);
  }
  static Traffic traffic(const GroupShape& s, int member) {
    return member < senders(s) ? Traffic{s.bytes, 0} : Traffic{0, s.bytes};
  }
  static GroupLayout layout(const GroupShape& s, int granule, bool pipelined) {
    const int slots = pipelined ? 2 * granule : granule;
    return {.granule = granule,
            .slots = slots,
            .sink_messages = slots,
            .pipelined = pipelined,
            .messages = static_cast<std::uint64_t>(senders(s))};
  }
};

struct VerifyRate {
  template <GroupLink L>
  static bool run(L& link, const Buffers& b, const GroupShape& s, std::uint64_t seed) {
    const int peer = RatePairs::peer(s);
    if (RatePairs::sends(s)) {
      fill_payload({b.source, s.bytes}, payload_seed(seed, s.member, peer));
      link.send(peer, b.source, s.bytes);
      return true;
    }
    const std::uint64_t expected = payload_seed(seed, peer, s.member);
    poison_payload({b.sink, s.bytes}, expected);
    link.recv(peer, b.sink, s.bytes);
    return payload_is({b.sink, s.bytes}, expected);
  }
};

/// The receivers' batches are not reported: an acknowledgement proves their work to the sender.
inline Ticks untold(Ticks elapsed, const Segment& segment, Ticks* stamps) {
  for (std::uint32_t i = 0; i <= segment.batches; ++i) stamps[i] = 0;
  return elapsed;
}

template <GroupLink L, class C>
struct MessageRate : RatePairs {
  using Verify = VerifyRate;

  static GroupLayout layout(const GroupShape& s) {
    return RatePairs::layout(s, half_window(s), true);
  }

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* stamps) {
    if (!sends(s)) return receive(link, clock, b, s, segment, stamps);
    SendingHalves<L> end{link, b, s.bytes, half_window(s), peer(s), segment.total()};
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      end.advance(count);
    };
    return time_batches(link, clock, segment, stamps, advance, [&] { end.post(); });
  }

 private:
  [[gnu::noinline]] static Ticks receive(L& link, C clock, const Buffers& b, const GroupShape& s,
                                         const Segment& segment, Ticks* stamps) {
    ReceivingHalves<L> end{link, b, s.bytes, half_window(s), peer(s), 1, 0, segment.total()};
    end.post_all();
    end.post_all();
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      end.advance(count);
    };
    return untold(time_batches(link, clock, segment, stamps, advance, [] {}), segment, stamps);
  }
};

/// osu_mbw_mr 7.x (kTimeEach: two barriers before every window, and only windows are timed, at the
/// sender) and IMB-MPI1 Uniband (one clock around all windows, at both ends).
template <GroupLink L, class C, bool kTimeEach>
struct WindowedRate : RatePairs {
  using Verify = VerifyRate;

  static GroupLayout layout(const GroupShape& s) { return RatePairs::layout(s, s.window, false); }

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* sums) {
    link.barrier();
    windows(link, clock, b, s, segment.lead_in);
    Ticks all = 0;
    for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
      sums[batch] = windows(link, clock, b, s, segment.granules);
      all += sums[batch];
    }
    if (!kTimeEach || sends(s)) return all;
    return untold(all, segment, sums);
  }

 private:
  [[gnu::always_inline]] static Ticks windows(L& link, C clock, const Buffers& b,
                                              const GroupShape& s, std::uint64_t count) {
    const Ticks start = clock.now();
    Ticks sum = 0;
    if (sends(s)) {
      for (std::uint64_t i = 0; i < count; ++i) sum += send(link, clock, b, s);
    } else {
      for (std::uint64_t i = 0; i < count; ++i) sum += receive(link, clock, b, s);
    }
    return kTimeEach ? sum : clock.now() - start;
  }
  [[gnu::always_inline]] static Ticks begin(L& link, C clock) {
    if constexpr (!kTimeEach) return 0;
    link.barrier();
    link.barrier();
    return clock.now();
  }
  [[gnu::always_inline]] static Ticks send(L& link, C clock, const Buffers& b,
                                           const GroupShape& s) {
    const int to = peer(s);
    const Ticks start = begin(link, clock);
    for (int i = 0; i < s.window; ++i) link.post_send(i, to, b.source, s.bytes);
    link.wait(0, s.window);
    link.recv_ack(to);
    return kTimeEach ? clock.now() - start : 0;
  }
  [[gnu::always_inline]] static Ticks receive(L& link, C clock, const Buffers& b,
                                              const GroupShape& s) {
    const int from = peer(s);
    const Ticks start = begin(link, clock);
    for (int i = 0; i < s.window; ++i) link.post_recv(i, from, b.sink, s.bytes);
    link.wait(0, s.window);
    link.send_ack(from);
    return kTimeEach ? clock.now() - start : 0;
  }
};

template <GroupLink L, class C>
using OsuRate = WindowedRate<L, C, true>;
template <GroupLink L, class C>
using UnibandRate = WindowedRate<L, C, false>;

}  // namespace wireproof
