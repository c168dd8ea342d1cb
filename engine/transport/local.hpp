// Base of the transports that need one process and no launcher: it plays all ranks, and both ends
// of a pair take turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/fiber.hpp"
#include "pattern/link_pair.hpp"

namespace wireproof {

class LocalGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return size_; }
  void broadcast(std::string&) override {}
  /// One process, so one text: that of all ranks.
  std::vector<std::string> gather(std::string_view text) override { return {std::string(text)}; }
  void barrier() override {}
  void cover(int rank) { size_ = std::max(size_, rank + 1); }

 private:
  int size_ = 1;
};

/// `World` is what the two ends of a pair share; it makes both links. `L` is constructed from
/// (World&, bool origin).
template <class World, Link L>
class LocalTransport : public Transport {
 public:
  Group& group() override { return group_; }
  bool one_sided() const override { return true; }
  bool owns(int) override { return true; }

  void configure(const Plan& plan) override {
    for (const RankPlace& place : plan.ranks) group_.cover(place.index);
    for (const Point& point : plan.points) {
      for (const auto& [origin, target] : point.pairs) {
        group_.cover(origin);
        group_.cover(target);
      }
      for (const int member : point.members) group_.cover(member);
    }
  }

  /// Nothing of a pair outlives its point but the number of its visits: one process plays ten
  /// thousand pairs. They run one after another, so all use the same pages.
  void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) override {
    Ends ends(clock, make_world(origin, target, visits_[{origin, target}]++));
    ends.origin.swap_memory(origin_memory_);
    ends.target.swap_memory(target_memory_);
    ends.world.turns.run([&] { roles.originate(ends.origin); }, [&] { roles.answer(ends.target); });
    ends.origin.swap_memory(origin_memory_);
    ends.target.swap_memory(target_memory_);
    ended(origin, target, ends.world);
  }

 protected:
  /// A pair's point is over, and its world about to go.
  virtual void ended(int /*origin*/, int /*target*/, const World&) {}
  /// `visit`: how many points this pair has had before.
  virtual typename World::Truth make_world(int origin, int target, std::uint64_t visit) = 0;

 private:
  struct Ends {
    Ends(const HostClock& clock, typename World::Truth truth)
        : world(std::move(truth)), origin(clock, world, true), target(clock, world, false) {}
    World world;
    LinkPair<L> origin;
    LinkPair<L> target;
  };
  LocalGroup group_;
  std::map<std::pair<int, int>, std::uint64_t> visits_;
  EndMemory origin_memory_;
  EndMemory target_memory_;
};

/// Control messages between two ends that take turns.
class LocalControl {
 public:
  explicit LocalControl(TurnTaking& turns) : turns_(turns) {}
  void send(bool to_target, std::span<const std::byte> message) {
    queue(to_target).emplace_back(message.begin(), message.end());
  }
  void receive(bool at_target, std::span<std::byte> message) {
    auto& waiting = queue(at_target);
    while (waiting.empty()) turns_.give_turn();
    std::copy_n(waiting.front().begin(), std::min(message.size(), waiting.front().size()),
                message.begin());
    waiting.erase(waiting.begin());
  }

 private:
  std::vector<std::vector<std::byte>>& queue(bool to_target) { return queues_[to_target ? 1 : 0]; }
  TurnTaking& turns_;
  std::vector<std::vector<std::byte>> queues_[2];
};

}  // namespace wireproof
