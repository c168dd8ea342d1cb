// Base of the transports that need one process and no launcher: it simulates all ranks, and both
// ends of a pair take turns.
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
  /// There is only one process, so its text is the text of all ranks.
  std::vector<std::string> gather(std::string_view text) override { return {std::string(text)}; }
  void barrier() override {}
  void cover(int rank) { size_ = std::max(size_, rank + 1); }

 private:
  int size_ = 1;
};

/// `World` is the state that the two ends of a pair share; it creates both links. `L` is
/// constructed from (World&, bool origin).
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

  /// Only the number of visits of a pair is kept after its point, because one process simulates ten
  /// thousand pairs. Pairs run one after another, so all use the same pages.
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
  /// Called when a pair's point is over, before its world is destroyed.
  virtual void ended(int /*origin*/, int /*target*/, const World&) {}
  /// `visit`: number of earlier points of this pair.
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
