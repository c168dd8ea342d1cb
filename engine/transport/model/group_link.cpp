#include "transport/model/group_link.hpp"

#include "pattern/payload.hpp"

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
  slots_[index(slot)] = {0, sink, bytes, from};
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
  world_->tell(Channel::acknowledgement, self_, index(to), world_->latency_ns(self_, index(to)),
               {});
}

void ModelGroupLink::recv_ack(int from) {
  now() = std::max(now(), world_->receive(Channel::acknowledgement, index(from), self_, {}));
}

void ModelGroupLink::send_control(int to, std::span<const std::byte> message) {
  world_->tell(Channel::control, self_, index(to), 0, message);
}

void ModelGroupLink::recv_control(int from, std::span<std::byte> message) {
  now() = std::max(now(), world_->receive(Channel::control, index(from), self_, message));
}

}  // namespace wireproof
