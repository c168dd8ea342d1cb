// Wraps a GroupLink for the untimed code, and binds the group patterns to it with the clock of the
// host (or of the model).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "pattern/group/registry.hpp"
#include "pattern/group/tree.hpp"
#include "pattern/link_pair.hpp"

namespace wireproof {

template <GroupLink L>
class LinkGroupEnd final : public GroupEnd {
 public:
  template <class... Arguments>
  explicit LinkGroupEnd(const HostClock& clock, Arguments&&... arguments)
      : clock_(clock), link_(std::forward<Arguments>(arguments)...) {}

  L& link() { return link_; }
  int member() const override { return link_.member(); }
  int members() const override { return link_.members(); }

  void broadcast(std::span<std::byte> bytes) override { tree::broadcast(link_, bytes); }
  void reduce(Reduction reduction, std::span<double> values) override {
    if (reduction == Reduction::maximum) {
      tree::reduce(link_, values, [](double a, double b) { return a > b ? a : b; });
    } else {
      tree::reduce(link_, values, [](double a, double b) { return a + b; });
    }
  }
  std::vector<double> gather(double value) override { return tree::gather(link_, value); }

  std::unique_ptr<GroupRunner> make_runner(const GroupShape& shape) override {
    if constexpr (TimesItself<L>) {
      return make_group_runner(link_, VirtualClock<L>{&link_}, memory_, shape);
    } else if (clock_.counter()) {
      return make_group_runner(link_, CounterClock{}, memory_, shape);
    } else {
      return make_group_runner(link_, MonotonicClock{}, memory_, shape);
    }
  }
  Ticks now() override {
    if constexpr (TimesItself<L>) {
      return link_.virtual_now();
    } else {
      return clock_.now();
    }
  }
  const ClockFacts& clock() const override {
    if constexpr (TimesItself<L>) {
      return link_.virtual_clock();
    } else {
      return clock_.facts();
    }
  }

 private:
  const HostClock& clock_;
  L link_;
  EndMemory memory_;
};

}  // namespace wireproof
