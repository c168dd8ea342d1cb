// The world that the members of a group share on the model transport: LogGP as for a pair, and
// ports.
//
// Every member has one port. It sends one message at a time and receives one at a time, each for
// occupancy(s); a message that arrives while another is being received waits. An undisturbed
// message takes latency + occupancy(s) from port to port, as between two members (cut-through; for
// a faulty rank the longer of the two occupancies). Events are computed in the order of virtual
// time (a discrete-event simulation), so the result does not depend on which member runs first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fiber_set.hpp"
#include "plan/plan.hpp"
#include "transport/model/model_link.hpp"

namespace wireproof {

class ModelGroupWorld {
 public:
  enum class Channel : std::uint64_t { data, acknowledgement, control };

  /// `faults`: by member.
  ModelGroupWorld(const ModelTruth& truth, std::vector<ModelFault> faults);

  /// Every member runs `program(its number)`. Rethrows their exceptions, and throws Failure if all
  /// remaining members wait for messages that no member will send.
  void run(const std::function<void(std::size_t)>& program);

  const ModelTruth& truth() const { return truth_; }
  int members() const { return static_cast<int>(members_.size()); }
  double latency_ns(std::size_t from, std::size_t to) const;
  double& now(std::size_t member) { return members_[member].now_ns; }
  const ModelTally& tally(std::size_t member) const { return members_[member].tally; }

  /// Starts a message at the sender's time; returns when its port is free again.
  double transmit(std::size_t from, std::size_t to, std::span<const std::byte> payload);
  /// Does not use the ports; arrives after `delay_ns`.
  void notify(Channel channel, std::size_t from, std::size_t to, double delay_ns,
              std::span<const std::byte> payload);
  /// Waits for the next message of that channel; returns when it has arrived.
  double receive(Channel channel, std::size_t from, std::size_t to, std::span<std::byte> payload);
  /// Whether a message has arrived by the receiver's time.
  bool has_arrived(Channel channel, std::size_t from, std::size_t to);
  /// All members leave at the time of the last one; the barrier takes no time.
  void barrier(std::size_t member);

 private:
  struct Message {
    double arrival_ns = 0;
    std::vector<std::byte> payload;
  };
  /// A queue that keeps its memory.
  struct Inbox {
    std::vector<Message> messages;
    std::size_t next = 0;
    bool empty() const { return next == messages.size(); }
  };
  struct Member {
    double now_ns = 0;
    double sends_free_ns = 0;
    double receives_free_ns = 0;
    std::unordered_map<std::uint64_t, Inbox> inboxes;  // by sender and channel
    std::uint64_t awaited = kNothing;
    ModelTally tally{};
  };
  /// A message whose head is in transit to its receiver's port.
  struct Parcel {
    std::size_t from;
    std::size_t to;
    double tail_ns;  // when its last byte would arrive if the port were free
    std::vector<std::byte> payload;
  };
  struct Event {
    double time_ns;
    std::uint64_t number;  // of two events at the same time the older goes first
    std::size_t subject;   // a parcel or a member
    bool is_parcel;
    bool operator>(const Event& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : number > other.number;
    }
  };

  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  static std::uint64_t key_of(Channel channel, std::size_t from) {
    return from * 4 + static_cast<std::uint64_t>(channel);
  }
  void schedule(double time_ns, std::size_t subject, bool is_parcel);
  void receive_at_port(std::size_t parcel, double time_ns);
  void deliver(std::size_t to, std::uint64_t key, Message&& message);
  std::size_t store(Parcel&& parcel);
  void check_all_ended() const;

  ModelTruth truth_;
  std::vector<ModelFault> faults_;
  std::vector<Member> members_;
  std::unique_ptr<FiberSet> fibers_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t event_number_ = 0;
  std::vector<Parcel> parcels_;
  std::vector<std::size_t> free_parcels_;
  std::vector<std::size_t> at_barrier_;
  double barrier_ns_ = 0;
};

}  // namespace wireproof
