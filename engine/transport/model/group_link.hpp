// One member of a group on the model transport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
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
  void expect_ack(int slot, int from) { slots_[index(slot)].from = from; }
  /// Messages that have arrived by now, in virtual time.
  bool has_come(int slot);

  void meet();
  void broadcast(std::byte* data, std::size_t bytes);
  void allreduce(const std::byte* source, std::byte* sink, std::size_t bytes);
  void allgather(const std::byte* source, std::byte* sink, std::size_t bytes);
  void alltoall(const std::byte* source, std::byte* sink, std::size_t bytes);
  /// The non-blocking forms progress by themselves up to the eager limit, and above it only in
  /// `finish`.
  void start_meet(int slot);
  void start_broadcast(int slot, std::byte* data, std::size_t bytes);
  void start_allreduce(int slot, const std::byte* source, std::byte* sink, std::size_t bytes);
  void start_allgather(int slot, const std::byte* source, std::byte* sink, std::size_t bytes);
  void start_alltoall(int slot, const std::byte* source, std::byte* sink, std::size_t bytes);
  void finish(int slot);
  /// Computes for this time.
  void pass_virtual_time(double ns) { now() += ns; }

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
    std::byte* sink = nullptr;  // pending receives
    std::size_t bytes = 0;
    int from = 0;
    std::function<void()> put_off;  // a collective that waits for `finish`
  };

  void start(int slot, std::size_t bytes, std::function<void()> collective);

  double& now() { return world_->now(self_); }
  static std::size_t index(int member) { return static_cast<std::size_t>(member); }

  ModelGroupWorld* world_;
  std::size_t self_;
  ModelClock clock_;
  std::vector<Slot> slots_;
  std::vector<std::byte> scratch_;
};

}  // namespace wireproof
