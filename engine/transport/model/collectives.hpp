// Collectives of the model, made of messages between two members by algorithms with a closed form
// (docs/reference/engine-interface.md). They run on any link with blocking send, recv and sendrecv.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace wireproof::made_of_messages {

/// Dissemination (Hensgen, Finkel, Manber 1988): in round k each sends an empty message to the
/// 2^k-th after it.
template <class L>
void barrier(L& link) {
  const int count = link.members();
  for (int step = 1; step < count; step *= 2) {
    const int to = (link.member() + step) % count;
    const int from = (link.member() + count - step) % count;
    link.sendrecv(to, nullptr, from, nullptr, 0);
  }
}

/// A binomial tree with member 0 at its root; the largest subtree is served first.
template <class L>
void broadcast(L& link, std::byte* data, std::size_t bytes) {
  const auto self = static_cast<unsigned>(link.member());
  const auto count = static_cast<unsigned>(link.members());
  unsigned below = std::bit_ceil(count);
  if (self != 0) {
    below = self & (~self + 1);
    link.recv(static_cast<int>(self - below), data, bytes);
  }
  for (unsigned step = below / 2; step > 0; step /= 2) {
    if (self + step < count) link.send(static_cast<int>(self + step), data, bytes);
  }
}

/// Adds `bytes` / 4 floats.
inline void add_floats(std::byte* sums, const std::byte* addends, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(float) <= bytes; at += sizeof(float)) {
    float sum = 0;
    float addend = 0;
    std::memcpy(&sum, sums + at, sizeof sum);
    std::memcpy(&addend, addends + at, sizeof addend);
    sum += addend;
    std::memcpy(sums + at, &sum, sizeof sum);
  }
}

/// A power of two of members: recursive doubling.
template <class L>
void add_by_doubling(L& link, std::byte* sink, std::size_t bytes, std::byte* theirs) {
  for (int step = 1; step < link.members(); step *= 2) {
    const int peer = link.member() ^ step;
    link.sendrecv(peer, sink, peer, theirs, bytes);
    add_floats(sink, theirs, bytes);
  }
}

/// Any number of members: each distributes its numbers to all (Bruck and others 1997: after round k
/// each has the numbers of 2^(k + 1) members) and adds them up. All members advance together, as
/// with doubling.
template <class L>
void add_by_gathering(L& link, std::byte* sink, std::size_t bytes, std::byte* theirs) {
  const int count = link.members();
  std::copy_n(sink, bytes, theirs);
  for (int step = 1; step < count; step *= 2) {
    const int to = (link.member() + count - step) % count;
    const int from = (link.member() + step) % count;
    const auto blocks = static_cast<std::size_t>(std::min(step, count - step));
    link.sendrecv(to, theirs, from, theirs + static_cast<std::size_t>(step) * bytes,
                  blocks * bytes);
  }
  for (int other = 1; other < count; ++other) {
    add_floats(sink, theirs + static_cast<std::size_t>(other) * bytes, bytes);
  }
}

template <class L>
void allreduce(L& link, const std::byte* source, std::byte* sink, std::size_t bytes,
               std::vector<std::byte>& scratch) {
  const auto count = static_cast<unsigned>(link.members());
  const bool doubles = std::has_single_bit(count);
  scratch.resize(doubles ? bytes : bytes * count);
  std::copy_n(source, bytes, sink);
  if (doubles) {
    add_by_doubling(link, sink, bytes, scratch.data());
  } else {
    add_by_gathering(link, sink, bytes, scratch.data());
  }
}

/// Around the ring: n - 1 times, each sends the newest block to the right.
template <class L>
void allgather(L& link, const std::byte* source, std::byte* sink, std::size_t bytes) {
  const int count = link.members();
  const int self = link.member();
  const auto block = [&](int member) {
    return sink + static_cast<std::size_t>((member + count) % count) * bytes;
  };
  std::copy_n(source, bytes, block(self));
  for (int step = 0; step + 1 < count; ++step) {
    link.sendrecv((self + 1) % count, block(self - step), (self + count - 1) % count,
                  block(self - step - 1), bytes);
  }
}

/// In round r each sends the block for the r-th member after it, and receives a block from the r-th
/// before it.
template <class L>
void alltoall(L& link, const std::byte* source, std::byte* sink, std::size_t bytes) {
  const int count = link.members();
  const int self = link.member();
  const auto offset = [&](int member) { return static_cast<std::size_t>(member) * bytes; };
  std::copy_n(source + offset(self), bytes, sink + offset(self));
  for (int step = 1; step < count; ++step) {
    const int to = (self + step) % count;
    const int from = (self + count - step) % count;
    link.sendrecv(to, source + offset(to), from, sink + offset(from), bytes);
  }
}

}  // namespace wireproof::made_of_messages
