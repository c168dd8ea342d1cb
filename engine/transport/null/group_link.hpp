// A member of a group that does nothing: every call is made and returns at once, so that a loop
// over it shows the cost of the harness. Member 0 alone represents all members.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "pattern/group/end.hpp"

namespace wireproof {

class NullGroupLink {
 public:
  explicit NullGroupLink(int members) : members_(members) {}

  int member() const { return 0; }
  int members() const { return members_; }

  void send(int to, const std::byte* source, std::size_t bytes);
  void recv(int from, std::byte* sink, std::size_t bytes);
  void sendrecv(int to, const std::byte* source, int from, std::byte* sink, std::size_t bytes);
  void post_send(int slot, int to, const std::byte* source, std::size_t bytes);
  void post_recv(int slot, int from, std::byte* sink, std::size_t bytes);
  void wait(int first, int count);
  void send_ack(int to);
  void recv_ack(int from);
  void barrier();
  void expect_ack(int slot, int from);
  bool has_come(int slot);

  void meet();
  void broadcast(std::byte* data, std::size_t bytes);
  void allreduce(const std::byte* source, std::byte* sink, std::size_t bytes);
  void allgather(const std::byte* source, std::byte* sink, std::size_t bytes);
  void alltoall(const std::byte* source, std::byte* sink, std::size_t bytes);
  void start_meet(int slot);
  void start_broadcast(int slot, std::byte* data, std::size_t bytes);
  void start_allreduce(int slot, const std::byte* source, std::byte* sink, std::size_t bytes);
  void start_allgather(int slot, const std::byte* source, std::byte* sink, std::size_t bytes);
  void start_alltoall(int slot, const std::byte* source, std::byte* sink, std::size_t bytes);
  void finish(int slot);

  void reserve(int) {}
  void send_control(int, std::span<const std::byte>) {}
  /// Nothing arrives: reductions keep member 0's own values, other members count as 0.
  void recv_control(int, std::span<std::byte>) {}

 private:
  int members_;
};

/// Member 0's end (compiled once, as make_null_origin).
std::unique_ptr<GroupEnd> make_null_member(const HostClock& clock, int members);

}  // namespace wireproof
