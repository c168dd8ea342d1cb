// The null link: every call is made and nothing is done, so that a loop over it shows the cost of
// the harness. Calls are kept out of line, as in every real transport.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "pattern/page_buffer.hpp"
#include "pattern/runner.hpp"
#include "plan/plan.hpp"
#include "transport/local.hpp"

namespace wireproof {

/// The state that the two ends share.
struct NullWorld {
  struct Truth {};
  explicit NullWorld(Truth) : control(turns) {}
  TurnTaking turns;
  LocalControl control;
};

class NullLink {
 public:
  static constexpr bool kOneSided = true;
  NullLink(NullWorld& world, bool origin) : world_(&world), origin_(origin) {}

  void send(const std::byte* source, std::size_t bytes);
  void recv(std::byte* sink, std::size_t bytes);
  void post_send(int slot, const std::byte* source, std::size_t bytes);
  void post_recv(int slot, std::byte* sink, std::size_t bytes);
  void wait(int first, int count);
  void send_ack();
  void recv_ack();
  void put(const std::byte* source, std::size_t bytes, std::size_t offset);
  void get(std::byte* sink, std::size_t bytes, std::size_t offset);
  void flush();
  void accumulate(const std::byte* addends, std::size_t bytes, std::size_t offset);
  void fetch_add(const std::byte* operand, std::byte* result, std::size_t offset);
  void compare_swap(const std::byte* operand, const std::byte* compare, std::byte* result,
                    std::size_t offset);
  void start(int first, int count);
  void start_one(int slot);
  void ready(int slot, int partition);
  void await_partition(int slot, int partition);

  static constexpr bool kThreadsTakeTurns = true;
  void assemble(int) {}
  NullLink& member(int) { return *this; }

  void reserve(int) {}
  void make_send(int, const std::byte*, std::size_t) {}
  void make_receive(int, std::byte*, std::size_t) {}
  void make_partitioned_send(int, const std::byte*, std::size_t, int) {}
  void make_partitioned_receive(int, std::byte*, std::size_t, int) {}
  void admit_partitions() {}
  void release(int, int) {}
  std::byte* expose(WindowKind, std::size_t bytes) { return window_->reserve(bytes); }
  void synchronise_window() {}
  void conceal() {}
  void send_control(std::span<const std::byte> message) { world_->control.send(origin_, message); }
  void recv_control(std::span<std::byte> message) { world_->control.receive(!origin_, message); }

 private:
  NullWorld* world_;
  bool origin_;
  std::unique_ptr<PageBuffer> window_ = std::make_unique<PageBuffer>();
};

/// The origin's end. The loops over this link are compiled only where this is defined.
std::unique_ptr<Pair> make_null_origin(const HostClock& clock, NullWorld& world);

}  // namespace wireproof
