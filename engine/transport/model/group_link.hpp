// One member of a group on the model transport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "transport/model/group_world.hpp"
#include "transport/model/model_clock.hpp"

namespace wireproof {

class ModelGroupLink {
 public:
  ModelGroupLink(ModelGroupWorld& world, std::size_t member);

  int member() const { return static_cast<int>(self_); }
  int members() const { return world_->members(); }

  void send(int to, const std::byte* source, std::size_t bytes);
  void recv(int from, std::byte* sink, std::size_t bytes);
  void sendrecv(int to, const std::byte* source, int from, std::byte* sink, std::size_t bytes);
  void post_send(int slot, int to, const std::byte* source, std::size_t bytes);
  void post_recv(int slot, int from, std::byte* sink, std::size_t bytes);
  void wait(int first, int count);
  void send_ack(int to);
  void recv_ack(int from);
  void barrier() { world_->barrier(self_); }

  void reserve(int slots) {
    slots_.resize(std::max(slots_.size(), static_cast<std::size_t>(slots)));
  }
  void send_control(int to, std::span<const std::byte> message);
  void recv_control(int from, std::span<std::byte> message);

  /// Picoseconds of virtual time, noise included.
  Ticks virtual_now() { return clock_.read(now()); }
  const ClockFacts& virtual_clock() const { return ModelClock::facts(); }

 private:
  using Channel = ModelGroupWorld::Channel;
  struct Slot {
    double complete_ns = 0;     // sends
    std::byte* sink = nullptr;  // receives under way
    std::size_t bytes = 0;
    int from = 0;
  };

  double& now() { return world_->now(self_); }
  static std::size_t index(int member) { return static_cast<std::size_t>(member); }

  ModelGroupWorld* world_;
  std::size_t self_;
  ModelClock clock_;
  std::vector<Slot> slots_;
};

}  // namespace wireproof
