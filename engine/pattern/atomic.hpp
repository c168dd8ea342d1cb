// accumulate, fetch_and_op, compare_and_swap: change the target's memory in place. accumulate adds
// 64-bit integers, with the loops of put; the other two work on a single word and return its old
// value, one at a time.
#pragma once

#include <array>
#include <cstring>

#include "pattern/remote.hpp"

namespace wireproof {

using Word = std::uint64_t;

struct RemoteAccumulate {
  template <Link L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, std::size_t bytes, int slot) {
    link.accumulate(b.source, bytes, static_cast<std::size_t>(slot) * b.stride);
  }
};

/// Adds 1 repeatedly, so the fetched values count up.
struct FetchAdd {
  static void set(const Buffers& b) {
    const Word one = 1;
    std::memcpy(b.source, &one, sizeof one);
  }
  template <Link L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, std::size_t, int) {
    link.fetch_add(b.source, b.sink, 0);
  }
};

/// Every operation succeeds: it compares with the value that the previous one left (0 at first) and
/// leaves that value plus one. `source` contains the new word and the word to compare with.
struct CompareSwap {
  static void set(const Buffers& b) { std::memset(b.source, 0, 2 * sizeof(Word)); }

  template <Link L>
  [[gnu::always_inline]] static void start(L& link, const Buffers& b, std::size_t, int) {
    Word next;
    std::memcpy(&next, b.source, sizeof next);
    std::memcpy(b.source + sizeof next, &next, sizeof next);
    ++next;
    std::memcpy(b.source, &next, sizeof next);
    link.compare_swap(b.source, b.source + sizeof next, b.sink, 0);
  }
};

inline Word word_at(const std::byte* place) {
  Word word;
  std::memcpy(&word, place, sizeof word);
  return word;
}

/// The sum must be right in every word: start + kAdded x addend. The numbers are small so that no
/// sum overflows.
struct VerifyAccumulate {
  static constexpr int kAdded = 2;
  static constexpr int kForward = kAdded;
  static constexpr int kBackward = 0;
  static constexpr int kShift = 24;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    for (std::size_t at = 0; at < s.bytes; at += sizeof(Word))
      put_word(b.source + at, addend(seed, at));
    await_peer(link);
    for (int i = 0; i < kAdded; ++i) {
      link.accumulate(b.source, s.bytes, 0);
      link.flush();
    }
    signal_peer(link);
    return true;
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    for (std::size_t at = 0; at < s.bytes; at += sizeof(Word))
      put_word(b.window + at, mix(~seed + at) >> kShift);
    link.synchronise_window();
    signal_peer(link);
    await_peer(link);
    link.synchronise_window();
    bool good = true;
    for (std::size_t at = 0; at < s.bytes; at += sizeof(Word)) {
      good &= word_at(b.window + at) == (mix(~seed + at) >> kShift) + kAdded * addend(seed, at);
    }
    return good;
  }

 private:
  static Word addend(std::uint64_t seed, std::size_t at) { return mix(seed + at) >> kShift; }
  static void put_word(std::byte* place, Word word) { std::memcpy(place, &word, sizeof word); }
};

/// The word counts: kTimes operations fetch 0, 1, 2 ... in order and leave kTimes. A
/// compare-and-swap that does not match is tried as well: it must return the word and leave it
/// unchanged.
template <class Access, bool kMismatch>
struct VerifyWord {
  static constexpr int kTimes = 8;
  static constexpr int kForward = kTimes + (kMismatch ? 1 : 0);
  static constexpr int kBackward = kForward;

  template <Link L>
  static bool origin(L& link, const Buffers& b, const PointShape& s, std::uint64_t seed) {
    await_peer(link);
    Access::set(b);
    bool good = true;
    for (Word i = 0; i < kTimes; ++i) {
      poison_payload({b.sink, sizeof(Word)}, seed);
      Access::start(link, b, s.bytes, 0);
      link.flush();
      good &= word_at(b.sink) == i;
    }
    if constexpr (kMismatch) good &= mismatch_is_refused(link, b, seed);
    signal_peer(link);
    return good;
  }
  template <Link L>
  static bool target(L& link, const Buffers& b, const PointShape&, std::uint64_t) {
    std::memset(b.window, 0, sizeof(Word));
    link.synchronise_window();
    signal_peer(link);
    await_peer(link);
    link.synchronise_window();
    return word_at(b.window) == kTimes;
  }

 private:
  template <Link L>
  static bool mismatch_is_refused(L& link, const Buffers& b, std::uint64_t seed) {
    const std::array<Word, 2> words{seed, kTimes + 1};  // to leave, and what is not there
    std::memcpy(b.source, words.data(), sizeof words);
    link.compare_swap(b.source, b.source + sizeof(Word), b.sink, 0);
    link.flush();
    return word_at(b.sink) == kTimes;
  }
};

/// Remote operations on a word that is 0 when the point begins.
template <Link L, class C, class Access, class Check>
struct WordAccess : Remote<L, C, Access, Check, true> {
  static Layout layout(const PointShape&) { return {.window_messages = 1, .window_is_zero = true}; }
  static void prepare(L&, const Buffers& b, const PointShape&, bool) { Access::set(b); }
  static void release(L&, const PointShape&) {}
};

template <Link L, class C>
using AccumulateLatency = Remote<L, C, RemoteAccumulate, VerifyAccumulate, true>;
template <Link L, class C>
using AccumulateStream = Remote<L, C, RemoteAccumulate, VerifyAccumulate, false>;
template <Link L, class C>
using FetchAndOp = WordAccess<L, C, FetchAdd, VerifyWord<FetchAdd, false>>;
template <Link L, class C>
using CompareAndSwap = WordAccess<L, C, CompareSwap, VerifyWord<CompareSwap, true>>;

}  // namespace wireproof
