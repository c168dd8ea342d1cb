// congestion: ping-pongs are watched, first alone (quiet) and then while other members stream to
// each other without pause (loaded). Members 2 i and 2 i + 1 are a pair; the first `watched` pairs
// play ping-pong, the others are the load, from the even to the odd member. Operation = one round
// trip of every watched pair.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "pattern/end_memory.hpp"
#include "pattern/group/end.hpp"
#include "pattern/group/halves.hpp"
#include "pattern/group/payload_seed.hpp"
#include "transport/collective_concept.hpp"

namespace wireproof {

struct CongestionRole {
  static bool watched(const GroupShape& s) { return s.member < 2 * s.watched; }
  static bool leads(const GroupShape& s) { return s.member % 2 == 0; }
  static int partner(const GroupShape& s) { return s.member ^ 1; }
  static std::size_t bytes(const GroupShape& s) { return watched(s) ? s.bytes : s.load_bytes; }
};

/// The watched ends. The origin reads the clock after every round trip.
template <LookingLink L, class C>
struct WatchedPingPong : CongestionRole {
  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, Ticks* round_trips) {
    return leads(s) ? originate(link, clock, b, s, segment, round_trips)
                    : answer(link, clock, b, s, segment);
  }

 private:
  [[gnu::always_inline]] static Ticks originate(L& link, C clock, const Buffers& b,
                                                const GroupShape& s, const Segment& segment,
                                                Ticks* round_trips) {
    const int to = partner(s);
    play(link, b, to, s.bytes, segment.lead_in);
    const Ticks start = clock.now();
    Ticks last = start;
    for (Ticks* const end = round_trips + segment.timed(); round_trips != end; ++round_trips) {
      play(link, b, to, s.bytes, 1);
      const Ticks now = clock.now();
      *round_trips = now - last;
      last = now;
    }
    play(link, b, to, s.bytes, segment.trail);
    return last - start;
  }
  [[gnu::always_inline]] static void play(L& link, const Buffers& b, int to, std::size_t bytes,
                                          std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      link.send(to, b.source, bytes);
      link.recv(to, b.sink, bytes);
    }
  }
  [[gnu::always_inline]] static Ticks answer(L& link, C clock, const Buffers& b,
                                             const GroupShape& s, const Segment& segment) {
    const int to = partner(s);
    const Ticks start = clock.now();
    for (std::uint64_t left = segment.total(); left > 0; --left) {
      link.recv(to, b.sink, s.bytes);
      link.send(to, b.source, s.bytes);
    }
    return clock.now() - start;
  }
};

/// The load. A sender streams until it gets a message from member 0. The first byte of a half shows
/// whether exactly one more half follows (1) or many (0), because its receiver has posted the next
/// one by then.
template <LookingLink L, class C>
struct EndlessStream : CongestionRole {
  static int word_slot(const GroupShape& s) { return 2 * half_window(s); }

  /// Returns the number of halves sent.
  [[gnu::noinline]] static std::uint64_t run_sender(L& link, const Buffers& b,
                                                    const GroupShape& s) {
    const std::byte* const one_more = b.source + b.stride;
    const int half = half_window(s);
    const int to = partner(s);
    int next = 0;
    int oldest = 0;
    std::uint64_t halves = 0;
    const auto post = [&](const std::byte* source) __attribute__((always_inline)) {
      for (int i = 0; i < half; ++i) link.post_send(next + i, to, source, s.load_bytes);
      next = half - next;
      ++halves;
    };
    const auto complete = [&]() __attribute__((always_inline)) {
      link.wait(oldest, half);
      link.recv_ack(to);
      oldest = half - oldest;
    };
    link.expect_ack(word_slot(s), 0);
    post(b.source);
    post(b.source);
    complete();
    link.send_ack(0);  // it flows
    while (!link.has_come(word_slot(s))) {
      post(b.source);
      complete();
    }
    post(one_more);
    complete();
    post(b.source);
    complete();
    complete();
    return halves;
  }

  [[gnu::noinline]] static std::uint64_t run_receiver(L& link, const Buffers& b,
                                                      const GroupShape& s) {
    const int half = half_window(s);
    const int from = partner(s);
    int oldest = 0;
    std::uint64_t halves = 0;
    const auto post = [&](int first) __attribute__((always_inline)) {
      for (int i = 0; i < half; ++i)
        link.post_recv(first + i, from, b.sink_slot(first + i), s.load_bytes);
    };
    post(0);
    post(half);
    for (bool more = true; more;) {
      link.wait(oldest, half);
      ++halves;
      more = *b.sink_slot(oldest) == std::byte{0};
      if (more) post(oldest);
      link.send_ack(from);
      oldest = half - oldest;
    }
    link.wait(oldest, half);
    link.send_ack(from);
    return halves + 1;
  }
};

template <LookingLink L, class C>
class CongestionRunner final : public GroupRunner, private CongestionRole {
 public:
  static GroupLayout layout_of(const GroupShape& s) {
    return {.slots = 2 * half_window(s) + 1, .messages = 2 * static_cast<std::uint64_t>(s.watched)};
  }

  CongestionRunner(L& link, C clock, EndMemory& memory, const GroupShape& shape)
      : link_(link), clock_(clock), shape_(shape), layout_(layout_of(shape)) {
    const std::size_t stride = (bytes(shape) + kCacheLine - 1) / kCacheLine * kCacheLine;
    const auto sinks = static_cast<std::size_t>(watched(shape) ? 1 : 2 * half_window(shape));
    buffers_ = {.source = memory.source.reserve(2 * stride),
                .sink = memory.sink.reserve(sinks * stride),
                .stride = stride};
    lent_.emplace(link_, std::span(buffers_.source, 2 * stride),
                  std::span(buffers_.sink, sinks * stride));
    link_.reserve(layout_.slots);
    mark_load();
  }

  const GroupLayout& layout() const override { return layout_; }
  Traffic traffic(int member) const override {
    return member < 2 * shape_.watched ? Traffic{shape_.bytes, shape_.bytes} : Traffic{};
  }
  std::optional<Traffic> moved() const override { return moved_; }
  std::span<const Ticks> round_trips() const override {
    return watches() ? round_trips_ : std::span<const Ticks>();
  }
  void enter(Phase phase, double, double) override { phase_ = phase; }
  void turn_to(int, int) override {}

  Ticks run(const Segment& segment, std::span<Ticks> ticks) override {
    if (watches()) round_trips_.resize(segment.timed());
    std::fill(ticks.begin(), ticks.begin() + segment.batches, Ticks{0});
    link_.barrier();
    if (!watched(shape_)) return phase_ == Phase::loaded ? disturb() : Ticks{0};
    if (phase_ == Phase::loaded) await_load();
    const Ticks elapsed =
        WatchedPingPong<L, C>::run(link_, clock_, buffers_, shape_, segment, round_trips_.data());
    if (phase_ == Phase::loaded) end_load();
    const std::uint64_t bytes = segment.total() * shape_.bytes;
    moved_.sent_bytes += bytes;
    moved_.received_bytes += bytes;
    for (std::size_t i = 0; i < round_trips_.size(); ++i)
      ticks[i / segment.granules] += round_trips_[i];
    return elapsed;
  }

  /// Every pair, both ways if it plays ping-pong.
  bool verify(std::uint64_t seed) override {
    const std::size_t size = bytes(shape_);
    const int other = partner(shape_);
    const bool both = watched(shape_);
    bool good = true;
    const auto give = [&] {
      fill_payload({buffers_.source, size}, payload_seed(seed, shape_.member, other));
      link_.send(other, buffers_.source, size);
      moved_.sent_bytes += size;
    };
    const auto take = [&] {
      const std::uint64_t expected = payload_seed(seed, other, shape_.member);
      poison_payload({buffers_.sink, size}, expected);
      link_.recv(other, buffers_.sink, size);
      moved_.received_bytes += size;
      good = payload_is({buffers_.sink, size}, expected);
    };
    if (leads(shape_)) give();
    if (both || !leads(shape_)) take();
    if (both && !leads(shape_)) give();
    mark_load();
    return good;
  }

 private:
  bool watches() const { return watched(shape_) && leads(shape_); }
  void mark_load() {
    const std::size_t size = bytes(shape_);
    fill_payload({buffers_.source, size}, size);
    fill_payload({buffers_.source + buffers_.stride, size}, size);
    if (watched(shape_) || size == 0) return;
    buffers_.source[0] = std::byte{0};
    buffers_.source[buffers_.stride] = std::byte{1};
  }

  Ticks disturb() {
    const Ticks start = clock_.now();
    const bool sends = leads(shape_);
    const std::uint64_t halves = sends ? EndlessStream<L, C>::run_sender(link_, buffers_, shape_)
                                       : EndlessStream<L, C>::run_receiver(link_, buffers_, shape_);
    const std::uint64_t bytes =
        halves * static_cast<std::uint64_t>(half_window(shape_)) * shape_.load_bytes;
    (sends ? moved_.sent_bytes : moved_.received_bytes) += bytes;
    return clock_.now() - start;
  }

  /// Member 0 learns from every stream that it flows, and then lets the other watchers begin.
  void await_load() {
    if (shape_.member == 0) {
      for (int m = 2 * shape_.watched; m < shape_.members; m += 2) link_.recv_ack(m);
      for (int m = 2; m < 2 * shape_.watched; m += 2) link_.send_ack(m);
    } else if (leads(shape_)) {
      link_.recv_ack(0);
    }
  }
  /// When the last watcher has finished, the streams may end.
  void end_load() {
    if (shape_.member == 0) {
      for (int m = 2; m < 2 * shape_.watched; m += 2) link_.recv_ack(m);
      for (int m = 2 * shape_.watched; m < shape_.members; m += 2) link_.send_ack(m);
    } else if (leads(shape_)) {
      link_.send_ack(0);
    }
  }

  L& link_;
  C clock_;
  GroupShape shape_;
  GroupLayout layout_;
  Buffers buffers_;
  std::optional<LentMemory<L>> lent_;
  Phase phase_ = Phase::plain;
  std::vector<Ticks> round_trips_;
  Traffic moved_;
};

}  // namespace wireproof
