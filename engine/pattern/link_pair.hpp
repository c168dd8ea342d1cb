// Wraps a Link for the untimed code, and binds the patterns to it with the clock of the host (or of
// the model).
#pragma once

#include <memory>
#include <utility>

#include "pattern/registry.hpp"

namespace wireproof {

/// A link with its own time (model).
template <class L>
concept TimesItself = requires(L& link) {
  { link.virtual_now() } -> std::same_as<Ticks>;
  { link.virtual_clock() } -> std::same_as<const ClockFacts&>;
};

template <class L>
struct VirtualClock {
  L* link;
  Ticks now() const { return link->virtual_now(); }
};

template <Link L>
class LinkPair final : public Pair {
 public:
  template <class... Arguments>
  explicit LinkPair(const HostClock& clock, Arguments&&... arguments)
      : clock_(clock), link_(std::forward<Arguments>(arguments)...) {}

  L& link() { return link_; }
  /// Gives this end the pages of `other`, and vice versa; never while a runner exists.
  void swap_memory(EndMemory& other) noexcept { memory_.swap(other); }

  void send_control(std::span<const std::byte> message) override { link_.send_control(message); }
  void recv_control(std::span<std::byte> message) override { link_.recv_control(message); }

  std::unique_ptr<Runner> make_runner(const PointShape& shape) override {
    if constexpr (TimesItself<L>) {
      return wireproof::make_runner(link_, VirtualClock<L>{&link_}, memory_, shape);
    } else if (clock_.counter()) {
      return wireproof::make_runner(link_, CounterClock{}, memory_, shape);
    } else {
      return wireproof::make_runner(link_, MonotonicClock{}, memory_, shape);
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
