// The model link: a world whose truth is known, in virtual time (LogGP after Alexandrov et al.
// 1995, with one protocol switch). Both ends really exchange the payload; only the clock is
// simulated. In nanoseconds, for a message of s bytes:
//
//   occupancy(s) = gap * s + (s > eager_limit ? rendezvous : 0)      one message at a time per
//   direction half round trip = latency + 2 * overhead + occupancy(s) stream, per message =
//   max(overhead, occupancy(s))                while window / 2 messages cover an acknowledgement
//   put + flush = overhead + occupancy(s) + 2 * latency;   get + flush = 2 * overhead +
//   occupancy(s) + 2 * latency
//
// A shared wire (`shared=1`) carries all messages in flight at the same time, each at an equal
// share, like a library that sends pieces of several large messages in turn: messages posted
// together arrive together. The total rate of the wire is the same.
//
// A faulty rank sends and receives at a share of the rate: a message between two ranks is as slow
// as the slower of the sender's sending and the receiver's receiving, gap / min(tx, rx), and takes
// the extra latency of both.
//
// Noise is applied when the clock is read, that is, per batch: each elapsed time is multiplied by 1
// + noise * z (z normal, seeded), and by 20 with the probability `stall`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "pattern/page_buffer.hpp"
#include "plan/plan.hpp"
#include "transport/local.hpp"
#include "transport/model/counters.hpp"
#include "transport/model/model_clock.hpp"

namespace wireproof {

/// One direction of the wire.
struct ModelWire {
  struct Message {
    double arrival_ns;
    std::vector<std::byte> payload;
    double posted_ns = 0;  // for a shared wire, like the next field
    double left_ns = 0;    // alone on the wire it would take this much longer
  };
  // when the next message may start; for a shared wire: the time up to which all is settled
  double free_ns = 0;
  std::deque<Message> messages;
  std::vector<std::vector<std::byte>> spare;  // memory of received messages

  std::vector<std::byte> copy_of(const std::byte* source, std::size_t bytes) {
    std::vector<std::byte> payload;
    if (!spare.empty()) {
      payload = std::move(spare.back());
      spare.pop_back();
    }
    payload.assign(source, source + bytes);
    return payload;
  }
  void drop_oldest() {
    spare.push_back(std::move(messages.front().payload));
    messages.pop_front();
  }
  std::deque<double> acks_ns;
};

struct ModelTruth {
  ModelWorld world;
  std::uint64_t seed = 0;
  std::array<ModelFault, 2> faults{};  // for the origin, for the target
};

struct ModelPairWorld {
  using Truth = ModelTruth;
  explicit ModelPairWorld(Truth t) : truth(t), control(turns) {}
  Truth truth;
  TurnTaking turns;
  LocalControl control;
  std::array<ModelWire, 2> wires;               // by sender: origin, target
  std::array<double, 2> now_ns{};               // each end's time
  std::array<std::span<std::byte>, 2> exposed;  // each end's window
  std::array<ModelTally, 2> tallies;            // payload that each end has sent and received

  /// A message of payload from one end to the other.
  void count(std::size_t from, std::size_t bytes) {
    tallies[from].sends(bytes);
    tallies[1 - from].receives(bytes);
  }
};

class ModelLink {
 public:
  static constexpr bool kOneSided = true;
  ModelLink(ModelPairWorld& world, bool origin);

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
  void start_one(int slot) { start(slot, 1); }
  void ready(int slot, int partition);
  void await_partition(int slot, int partition);
  void make_send(int slot, const std::byte* source, std::size_t bytes);
  void make_receive(int slot, std::byte* sink, std::size_t bytes);
  void make_partitioned_send(int slot, const std::byte* source, std::size_t bytes, int partitions);
  void make_partitioned_receive(int slot, std::byte* sink, std::size_t bytes, int partitions);
  void admit_partitions() {}
  void release(int, int) {}

  /// Threads take turns on the single wire.
  static constexpr bool kThreadsTakeTurns = true;
  void assemble(int) {}
  ModelLink& member(int) { return *this; }

  void reserve(int slots) {
    slots_.resize(std::max(slots_.size(), static_cast<std::size_t>(slots)));
  }
  std::byte* expose(WindowKind kind, std::size_t bytes);
  void synchronise_window() {}
  void conceal() {}
  void send_control(std::span<const std::byte> message);
  void recv_control(std::span<std::byte> message);

  /// Picoseconds of virtual time, noise included.
  Ticks virtual_now() { return clock_.read(now()); }
  const ClockFacts& virtual_clock() const { return ModelClock::facts(); }

 private:
  struct Slot {
    double complete_ns = 0;     // sends
    std::byte* sink = nullptr;  // pending receives
    std::size_t bytes = 0;      // of each piece
    int pieces = 1;             // messages that have not been received
  };
  /// The action of a slot when it is started: send a message in pieces of `bytes`.
  struct Prepared {
    const std::byte* source = nullptr;
    std::byte* sink = nullptr;
    std::size_t bytes = 0;
    int pieces = 1;
    bool partitioned = false;
  };

  double& now() { return world_->now_ns[self_]; }
  ModelWire& outgoing() { return world_->wires[self_]; }
  ModelWire& incoming() { return world_->wires[1 - self_]; }
  /// Puts a message on the wire; returns when the wire is free again.
  double transmit(const std::byte* source, std::size_t bytes);
  /// A word in each direction.
  void trade_word();
  Prepared& prepared(int slot);
  void receive_piece(Slot& slot);
  /// For a shared wire: the time at which the oldest message arrives.
  void settle_oldest();

  ModelPairWorld* world_;
  std::size_t self_;  // 0 origin, 1 target
  ModelClock clock_;
  double outgoing_gap_ns_;  // per byte
  double incoming_gap_ns_;  // per byte
  double latency_ns_;       // of either direction
  std::vector<Slot> slots_;
  std::vector<Prepared> prepared_;
  double accesses_done_ns_ = 0;
  std::unique_ptr<PageBuffer> window_ = std::make_unique<PageBuffer>();
};

}  // namespace wireproof
