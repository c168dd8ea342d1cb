// Remote atomics and prepared requests of the model link.
//
//   accumulate + flush = overhead + occupancy(s) + 2 * latency, as put
//   fetch_and_op, compare_and_swap = 2 * overhead + 2 * occupancy(8) + 2 * latency
//   persistent = the same messages, posted at once
//   partitioned, P pieces of s / P: half round trip = latency + 2 * overhead + occupancy(s / P) +
//   (P - 1) * max(overhead, occupancy(s / P)); stream, per message = P * max(overhead, occupancy(s
//   / P)): every partition is a separate message
#include <algorithm>
#include <cstring>

#include "pattern/atomic.hpp"
#include "transport/model/model_link.hpp"

namespace wireproof {

void ModelLink::accumulate(const std::byte* addends, std::size_t bytes, std::size_t offset) {
  std::byte* const place = world_->exposed[1 - self_].data() + offset;
  for (std::size_t at = 0; at < bytes; at += sizeof(Word)) {
    const Word sum = word_at(place + at) + word_at(addends + at);
    std::memcpy(place + at, &sum, sizeof sum);
  }
  world_->count(self_, bytes);
  now() += world_->truth.world.overhead_ns;
  outgoing().free_ns = std::max(now(), outgoing().free_ns) +
                       occupancy_ns(world_->truth.world, bytes, outgoing_gap_ns_);
  accesses_done_ns_ = outgoing().free_ns + 2 * latency_ns_;
}

void ModelLink::trade_word() {
  world_->count(self_, sizeof(Word));
  world_->count(1 - self_, sizeof(Word));
  const ModelWorld& w = world_->truth.world;
  now() += w.overhead_ns;
  ModelWire& there = outgoing();
  ModelWire& back = incoming();
  there.free_ns = std::max(now(), there.free_ns) + occupancy_ns(w, sizeof(Word), outgoing_gap_ns_);
  back.free_ns = std::max(there.free_ns + latency_ns_, back.free_ns) +
                 occupancy_ns(w, sizeof(Word), incoming_gap_ns_);
  accesses_done_ns_ = back.free_ns + latency_ns_ + w.overhead_ns;
}

void ModelLink::fetch_add(const std::byte* operand, std::byte* result, std::size_t offset) {
  std::byte* const place = world_->exposed[1 - self_].data() + offset;
  const Word sum = word_at(place) + word_at(operand);
  std::memcpy(result, place, sizeof sum);
  std::memcpy(place, &sum, sizeof sum);
  trade_word();
}

void ModelLink::compare_swap(const std::byte* operand, const std::byte* compare, std::byte* result,
                             std::size_t offset) {
  std::byte* const place = world_->exposed[1 - self_].data() + offset;
  const Word found = word_at(place);
  if (found == word_at(compare)) std::memcpy(place, operand, sizeof found);
  std::memcpy(result, &found, sizeof found);
  trade_word();
}

ModelLink::Prepared& ModelLink::prepared(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  prepared_.resize(std::max(prepared_.size(), at + 1));
  return prepared_[at];
}

void ModelLink::make_send(int slot, const std::byte* source, std::size_t bytes) {
  prepared(slot) = {.source = source, .bytes = bytes};
}

void ModelLink::make_receive(int slot, std::byte* sink, std::size_t bytes) {
  prepared(slot) = {.sink = sink, .bytes = bytes};
}

void ModelLink::make_partitioned_send(int slot, const std::byte* source, std::size_t bytes,
                                      int partitions) {
  prepared(slot) = {.source = source,
                    .bytes = bytes / static_cast<std::size_t>(partitions),
                    .pieces = partitions,
                    .partitioned = true};
}

void ModelLink::make_partitioned_receive(int slot, std::byte* sink, std::size_t bytes,
                                         int partitions) {
  prepared(slot) = {.sink = sink,
                    .bytes = bytes / static_cast<std::size_t>(partitions),
                    .pieces = partitions,
                    .partitioned = true};
}

void ModelLink::start(int first, int count) {
  for (int slot = first; slot < first + count; ++slot) {
    const Prepared& p = prepared(slot);
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    if (p.sink != nullptr) {
      s = {.sink = p.sink, .bytes = p.bytes, .pieces = p.pieces};
    } else if (p.partitioned) {
      s = {.complete_ns = now()};
    } else {
      post_send(slot, p.source, p.bytes);
    }
  }
}

void ModelLink::ready(int slot, int partition) {
  const Prepared& p = prepared(slot);
  const std::byte* const piece = p.source + static_cast<std::size_t>(partition) * p.bytes;
  slots_[static_cast<std::size_t>(slot)].complete_ns = transmit(piece, p.bytes);
}

void ModelLink::await_partition(int slot, int partition) {
  Slot& s = slots_[static_cast<std::size_t>(slot)];
  while (s.pieces >= prepared(slot).pieces - partition) receive_piece(s);
}

}  // namespace wireproof
