#include "transport/model/model_link.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "pattern/payload.hpp"

namespace wireproof {
ModelLink::ModelLink(ModelPairWorld& world, bool origin)
    : world_(&world),
      self_(origin ? 0 : 1),
      clock_(world.truth.world, mix(world.truth.seed + self_)) {
  const ModelWorld& w = world.truth.world;
  const ModelFault& own = world.truth.faults[self_];
  const ModelFault& other = world.truth.faults[1 - self_];
  outgoing_gap_ns_ = w.gap_ns_per_byte / std::min(own.tx, other.rx);
  incoming_gap_ns_ = w.gap_ns_per_byte / std::min(other.tx, own.rx);
  latency_ns_ = w.latency_ns + own.latency_ns + other.latency_ns;
}

double ModelLink::transmit(const std::byte* source, std::size_t bytes) {
  const ModelWorld& w = world_->truth.world;
  world_->count(self_, bytes);
  now() += w.overhead_ns;
  ModelWire& wire = outgoing();
  if (w.shared) {
    wire.messages.push_back({.arrival_ns = 0,
                             .payload = wire.copy_of(source, bytes),
                             .posted_ns = now(),
                             .left_ns = occupancy_ns(w, bytes, outgoing_gap_ns_)});
    return now();
  }
  wire.free_ns = std::max(now(), wire.free_ns) + occupancy_ns(w, bytes, outgoing_gap_ns_);
  wire.messages.push_back(
      {.arrival_ns = wire.free_ns + latency_ns_, .payload = wire.copy_of(source, bytes)});
  return wire.free_ns;
}

void ModelLink::send(const std::byte* source, std::size_t bytes) { transmit(source, bytes); }

void ModelLink::recv(std::byte* sink, std::size_t bytes) {
  ModelWire& wire = incoming();
  while (wire.messages.empty()) world_->turns.give_turn();
  if (world_->truth.world.shared) settle_oldest();
  const ModelWire::Message& message = wire.messages.front();
  std::memcpy(sink, message.payload.data(), std::min(bytes, message.payload.size()));
  now() = std::max(now(), message.arrival_ns) + world_->truth.world.overhead_ns;
  wire.drop_oldest();
}

/// Moves from one event (a message is posted, or has crossed) to the next. The sender first posts
/// everything that it can post without a reply, since that affects its share.
void ModelLink::settle_oldest() {
  world_->turns.give_turn();
  ModelWire& wire = incoming();
  while (wire.messages.front().left_ns > 0) {
    double next_posted = std::numeric_limits<double>::infinity();
    double least_left = next_posted;
    double sharing = 0;
    for (const ModelWire::Message& message : wire.messages) {
      if (message.left_ns <= 0) continue;
      if (message.posted_ns > wire.free_ns) {
        next_posted = std::min(next_posted, message.posted_ns);
      } else {
        least_left = std::min(least_left, message.left_ns);
        ++sharing;
      }
    }
    const double through = sharing > 0 ? wire.free_ns + least_left * sharing : next_posted;
    const double until = std::min(through, next_posted);
    for (ModelWire::Message& message : wire.messages) {
      if (message.left_ns <= 0 || message.posted_ns > wire.free_ns) continue;
      message.left_ns -= (until - wire.free_ns) / sharing;
      if (message.left_ns > 1e-9 * until) continue;  // rounding
      message.left_ns = 0;
      message.arrival_ns = until + latency_ns_;
    }
    wire.free_ns = until;
  }
}

void ModelLink::post_send(int slot, const std::byte* source, std::size_t bytes) {
  Slot& s = slots_[static_cast<std::size_t>(slot)];
  s.sink = nullptr;
  s.complete_ns = transmit(source, bytes);
}

void ModelLink::post_recv(int slot, std::byte* sink, std::size_t bytes) {
  slots_[static_cast<std::size_t>(slot)] = {.sink = sink, .bytes = bytes};
}

void ModelLink::receive_piece(Slot& slot) {
  recv(slot.sink, slot.bytes);
  slot.sink += slot.bytes;
  --slot.pieces;
}

/// Messages match in order, and every pattern waits in the order of posting.
void ModelLink::wait(int first, int count) {
  for (int slot = first; slot < first + count; ++slot) {
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    if (s.sink != nullptr) {
      while (s.pieces > 0) receive_piece(s);
      s.sink = nullptr;
    } else {
      now() = std::max(now(), s.complete_ns);
    }
  }
}

/// Acknowledgements do not occupy the wire: they are a few bytes that overtake nothing.
void ModelLink::send_ack() { outgoing().acks_ns.push_back(now() + latency_ns_); }

void ModelLink::recv_ack() {
  auto& acks = incoming().acks_ns;
  while (acks.empty()) world_->turns.give_turn();
  now() = std::max(now(), acks.front());
  acks.pop_front();
}

std::byte* ModelLink::expose(WindowKind, std::size_t bytes) {
  std::byte* const memory = window_->reserve(bytes);
  world_->exposed[self_] = {memory, bytes};
  return memory;
}

void ModelLink::put(const std::byte* source, std::size_t bytes, std::size_t offset) {
  const ModelWorld& w = world_->truth.world;
  std::memcpy(world_->exposed[1 - self_].data() + offset, source, bytes);
  world_->count(self_, bytes);
  now() += w.overhead_ns;
  outgoing().free_ns =
      std::max(now(), outgoing().free_ns) + occupancy_ns(w, bytes, outgoing_gap_ns_);
  accesses_done_ns_ = outgoing().free_ns + 2 * latency_ns_;
}

void ModelLink::get(std::byte* sink, std::size_t bytes, std::size_t offset) {
  const ModelWorld& w = world_->truth.world;
  std::memcpy(sink, world_->exposed[1 - self_].data() + offset, bytes);
  world_->count(1 - self_, bytes);
  now() += w.overhead_ns;
  incoming().free_ns =
      std::max(now() + latency_ns_, incoming().free_ns) + occupancy_ns(w, bytes, incoming_gap_ns_);
  accesses_done_ns_ = incoming().free_ns + latency_ns_ + w.overhead_ns;
}

void ModelLink::flush() { now() = std::max(now(), accesses_done_ns_); }

void ModelLink::send_control(std::span<const std::byte> message) {
  world_->control.send(self_ == 0, message);
}

void ModelLink::recv_control(std::span<std::byte> message) {
  world_->control.receive(self_ == 1, message);
  now() = std::max(now(), world_->now_ns[1 - self_]);
}

}  // namespace wireproof
