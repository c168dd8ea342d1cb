#include <unordered_map>

#include "base/failure.hpp"
#include "pattern/group/link_end.hpp"
#include "pattern/payload.hpp"
#include "transport/model/group_link.hpp"
#include "transport/model/model_link.hpp"
#include "transport/openers.hpp"

namespace wireproof {
namespace {

class ModelTransport final : public LocalTransport<ModelPairWorld, ModelLink> {
 public:
  void configure(const Plan& plan) override {
    LocalTransport::configure(plan);
    if (!plan.model) throw bad_plan("plan: transport kind=model needs a model statement");
    truth_ = {*plan.model, plan.seed};
    for (const ModelFault& fault : plan.model_faults) faults_[fault.rank] = fault;
    if (!plan.model_counters.empty()) counters_ = std::make_unique<ModelCounters>(plan);
  }
  void show_counters() override {
    if (counters_ != nullptr) counters_->show();
  }
  std::optional<ClockFacts> virtual_clock() const override {
    return ClockFacts{ClockSource::virtual_time, 0.001, 0.001, 0.0};
  }

  bool has_groups() const override { return true; }

  /// Every group has independent noise at every visit, and the same noise in every run with this
  /// seed.
  void run_group(const std::vector<int>& members, const HostClock& clock,
                 const GroupRole& role) override {
    ModelTruth truth = truth_;
    std::vector<ModelFault> faults;
    for (const int rank : members) {
      truth.seed = mix(truth.seed + static_cast<std::uint64_t>(rank));
      faults.push_back(fault_of(rank));
    }
    truth.seed = mix(truth.seed ^ group_visits_++);
    ModelGroupWorld world(truth, std::move(faults));
    std::vector<std::unique_ptr<LinkGroupEnd<ModelGroupLink>>> ends;
    for (std::size_t m = 0; m < members.size(); ++m) {
      ends.push_back(std::make_unique<LinkGroupEnd<ModelGroupLink>>(clock, world, m));
    }
    world.run([&](std::size_t member) { role(*ends[member]); });
    for (std::size_t m = 0; m < members.size(); ++m) crossed(members[m], world.tally(m));
  }

 protected:
  /// Every pair has independent noise at every visit, and the same noise in every run with this
  /// seed.
  ModelTruth make_world(int origin, int target, std::uint64_t visit) override {
    ModelTruth truth = truth_;
    truth.seed = mix(mix(truth.seed) + static_cast<std::uint64_t>(origin) * 65537 +
                     static_cast<std::uint64_t>(target));
    if (visit > 0) truth.seed = mix(truth.seed ^ mix(visit));
    truth.faults = {fault_of(origin), fault_of(target)};
    return truth;
  }

  void ended(int origin, int target, const ModelPairWorld& world) override {
    crossed(origin, world.tallies[0]);
    crossed(target, world.tallies[1]);
  }

 private:
  void crossed(int rank, const ModelTally& tally) {
    if (counters_ != nullptr) counters_->add(rank, tally);
  }

  ModelFault fault_of(int rank) const {
    const auto known = faults_.find(rank);
    return known == faults_.end() ? ModelFault{} : known->second;
  }

  ModelTruth truth_;
  std::unordered_map<int, ModelFault> faults_;  // by rank
  std::uint64_t group_visits_ = 0;
  std::unique_ptr<ModelCounters> counters_;
};

}  // namespace

std::unique_ptr<Transport> open_model(const OpenRequest&) {
  return std::make_unique<ModelTransport>();
}

}  // namespace wireproof
