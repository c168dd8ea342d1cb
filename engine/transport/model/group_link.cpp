#include "transport/model/group_link.hpp"

#include <utility>

#include "pattern/payload.hpp"
#include "transport/model/collectives.hpp"

namespace wireproof {

ModelGroupLink::ModelGroupLink(ModelGroupWorld& world, std::size_t member)
    : world_(&world),
      self_(member),
      clock_(world.truth().world, mix(world.truth().seed + member)) {}

void ModelGroupLink::send(int to, const std::byte* source, std::size_t bytes) {
  world_->transmit(self_, index(to), {source, bytes});
}

void ModelGroupLink::recv(int from, std::byte* sink, std::size_t bytes) {
  const double arrival = world_->receive(Channel::data, index(from), self_, {sink, bytes});
  now() = std::max(now(), arrival) + world_->truth().world.overhead_ns;
}

void ModelGroupLink::sendrecv(int to, const std::byte* source, int from, std::byte* sink,
                              std::size_t bytes) {
  send(to, source, bytes);
  recv(from, sink, bytes);
}

void ModelGroupLink::post_send(int slot, int to, const std::byte* source, std::size_t bytes) {
  Slot& s = slots_[index(slot)];
  s.sink = nullptr;
  s.complete_ns = world_->transmit(self_, index(to), {source, bytes});
}

void ModelGroupLink::post_recv(int slot, int from, std::byte* sink, std::size_t bytes) {
  slots_[index(slot)] = {0, sink, bytes, from, {}};
}

/// Messages match in order, and every pattern waits in the order of posting.
void ModelGroupLink::wait(int first, int count) {
  for (int slot = first; slot < first + count; ++slot) {
    Slot& s = slots_[index(slot)];
    if (s.sink != nullptr) {
      recv(s.from, s.sink, s.bytes);
      s.sink = nullptr;
    } else {
      now() = std::max(now(), s.complete_ns);
    }
  }
}

/// Acknowledgements do not occupy the ports: they are a few bytes that overtake nothing.
void ModelGroupLink::send_ack(int to) {
  world_->notify(Channel::acknowledgement, self_, index(to), world_->latency_ns(self_, index(to)),
                 {});
}

void ModelGroupLink::recv_ack(int from) {
  now() = std::max(now(), world_->receive(Channel::acknowledgement, index(from), self_, {}));
}

void ModelGroupLink::send_control(int to, std::span<const std::byte> message) {
  world_->notify(Channel::control, self_, index(to), 0, message);
}

void ModelGroupLink::recv_control(int from, std::span<std::byte> message) {
  now() = std::max(now(), world_->receive(Channel::control, index(from), self_, message));
}

bool ModelGroupLink::has_come(int slot) {
  const std::size_t from = index(slots_[index(slot)].from);
  if (!world_->has_arrived(Channel::acknowledgement, from, self_)) return false;
  world_->receive(Channel::acknowledgement, from, self_, {});
  return true;
}

void ModelGroupLink::meet() { made_of_messages::barrier(*this); }
void ModelGroupLink::broadcast(std::byte* data, std::size_t bytes) {
  made_of_messages::broadcast(*this, data, bytes);
}
void ModelGroupLink::allreduce(const std::byte* source, std::byte* sink, std::size_t bytes) {
  made_of_messages::allreduce(*this, source, sink, bytes, scratch_);
}
void ModelGroupLink::allgather(const std::byte* source, std::byte* sink, std::size_t bytes) {
  made_of_messages::allgather(*this, source, sink, bytes);
}
void ModelGroupLink::alltoall(const std::byte* source, std::byte* sink, std::size_t bytes) {
  made_of_messages::alltoall(*this, source, sink, bytes);
}

/// A collective that progresses by itself is computed at once and the time is set back to its
/// start: until `finish` this member sends nothing else, so no other member can notice.
void ModelGroupLink::start(int slot, std::size_t bytes, std::function<void()> collective) {
  Slot& s = slots_[index(slot)];
  s.complete_ns = now();
  const ModelWorld& w = world_->truth().world;
  if (w.eager_limit_bytes > 0 && bytes > w.eager_limit_bytes) {
    s.put_off = std::move(collective);
    return;
  }
  const double begun = now();
  collective();
  s.complete_ns = std::exchange(now(), begun);
}

void ModelGroupLink::finish(int slot) {
  Slot& s = slots_[index(slot)];
  now() = std::max(now(), s.complete_ns);
  if (const auto put_off = std::exchange(s.put_off, {})) put_off();
}

void ModelGroupLink::start_meet(int slot) {
  start(slot, 0, [this] { meet(); });
}
void ModelGroupLink::start_broadcast(int slot, std::byte* data, std::size_t bytes) {
  start(slot, bytes, [this, data, bytes] { broadcast(data, bytes); });
}
void ModelGroupLink::start_allreduce(int slot, const std::byte* source, std::byte* sink,
                                     std::size_t bytes) {
  start(slot, bytes, [=, this] { allreduce(source, sink, bytes); });
}
void ModelGroupLink::start_allgather(int slot, const std::byte* source, std::byte* sink,
                                     std::size_t bytes) {
  start(slot, bytes, [=, this] { allgather(source, sink, bytes); });
}
void ModelGroupLink::start_alltoall(int slot, const std::byte* source, std::byte* sink,
                                    std::size_t bytes) {
  start(slot, bytes, [=, this] { alltoall(source, sink, bytes); });
}

}  // namespace wireproof
