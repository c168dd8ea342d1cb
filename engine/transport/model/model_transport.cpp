#include "base/failure.hpp"
#include "pattern/payload.hpp"
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
  }
  std::optional<ClockFacts> virtual_clock() const override {
    return ClockFacts{ClockSource::virtual_time, 0.001, 0.001, 0.0};
  }

 protected:
  /// Every pair has its own noise, and the same pair the same noise in every run with this seed.
  ModelTruth make_world(int origin, int target) override {
    ModelTruth truth = truth_;
    truth.seed = mix(mix(truth.seed) + static_cast<std::uint64_t>(origin) * 65537 +
                     static_cast<std::uint64_t>(target));
    return truth;
  }

 private:
  ModelTruth truth_;
};

}  // namespace

std::unique_ptr<Transport> open_model(const OpenRequest&) {
  return std::make_unique<ModelTransport>();
}

}  // namespace wireproof
