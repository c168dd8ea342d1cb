// The features of a group that the patterns need beyond messages between two members: the library's
// collectives, and a non-blocking test. Plain classes, never virtual, like GroupLink.
#pragma once

#include <concepts>
#include <cstddef>

#include "transport/group_concept.hpp"

namespace wireproof {

/// The library's collectives over all members, one call each. Timed. Blocks have `bytes` bytes and
/// are contiguous, by member; memory for results never overlaps the sources. * `meet`: the
/// library's barrier. (`barrier` is for untimed code: on the model it costs nothing.)
/// * `broadcast`: from member 0. `allreduce`: the sum of 32-bit floats. `allgather`: a block of
/// each. `alltoall`: block i of `source` to member i.
/// * `start_*`: the non-blocking form, in `slot`; `finish(slot)` ends it. Between the two the
/// caller makes no calls.
template <class L>
concept CollectiveLink = GroupLink<L> && requires(L& link, std::byte* data, const std::byte* source,
                                                  std::byte* sink, std::size_t bytes, int slot) {
  link.meet();
  link.broadcast(data, bytes);
  link.allreduce(source, sink, bytes);
  link.allgather(source, sink, bytes);
  link.alltoall(source, sink, bytes);
  link.start_meet(slot);
  link.start_broadcast(slot, data, bytes);
  link.start_allreduce(slot, source, sink, bytes);
  link.start_allgather(slot, source, sink, bytes);
  link.start_alltoall(slot, source, sink, bytes);
  link.finish(slot);
};

/// `expect_ack(slot, peer)`: from now on `has_come(slot)` shows, without waiting, whether the
/// peer's acknowledgement has arrived; after the first yes the slot is free again.
template <class L>
concept LookingLink = GroupLink<L> && requires(L& link, int slot, int peer) {
  link.expect_ack(slot, peer);
  { link.has_come(slot) } -> std::same_as<bool>;
};

}  // namespace wireproof
