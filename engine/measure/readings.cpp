#include "measure/readings.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"

namespace wireproof {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kShortestWindowNs = 2 * kNsPerMs;
constexpr std::int64_t kLongestWindowNs = 20 * kNsPerMs;
constexpr std::int64_t kWindowShare = 33;  // 3 % of a point that lasts as long as the previous one

constexpr std::uint64_t kTellingBytes = 1'000'000;
constexpr int kLookMs = 20;
constexpr int kLongestLookMs = 1500;  // the slowest drivers refresh once a second

/// Sleeps for the whole time, even if signals arrive.
void sleep_ns(std::int64_t ns) {
  timespec left{ns / 1'000'000'000, ns % 1'000'000'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void sleep_ms(int milliseconds) { sleep_ns(milliseconds * kNsPerMs); }

}  // namespace

Readings::Readings(const Evidence& evidence, Transport& transport, const Plan& plan)
    : evidence_(evidence),
      transport_(transport),
      idle_ms_(plan.witness.idle_ms),
      observes_(!transport.virtual_clock() || !plan.model_counters.empty()),
      settle_ms_(observes_ ? plan.witness.settle_ms : 0),
      knows_delay_(settle_ms_.has_value()),
      known_ms_(settle_ms_ ? 0 : evidence.settle_ms()),
      window_ns_(kShortestWindowNs) {}

void Readings::for_each(void (Site::*read)()) {
  transport_.show_counters();
  for (const auto& site : evidence_.sites()) (*site.*read)();
}

void Readings::idle() {
  sleep_ms(settle_ms_.value_or(0));
  for_each(&Site::read_before);
  sleep_ms(idle_ms_);
  for_each(&Site::read_after);
  for (const auto& site : evidence_.sites()) site->begin_run();
}

void Readings::before_point() {
  point_began_ns_ = monotonic_ns();
  if (observes_) {
    for_each(&Site::read_open);
    sleep_ns(window_ns_);
  }
  for_each(&Site::read_before);
}

void Readings::after_point(const Traffic& payload) {
  run_payload_bytes_ += payload.both();
  for_each(&Site::read_after);
  if (observes_) {
    sleep_ns(window_ns_);
    for_each(&Site::read_close);
  }
  window_ns_ = std::clamp((monotonic_ns() - point_began_ns_) / kWindowShare, kShortestWindowNs,
                          kLongestWindowNs);
}

void Readings::learn_to_settle(const Traffic& payload) {
  if (payload.both() > 0 && !shown_at_once(payload)) needs_late_ = true;
  if (knows_delay_ || payload.both() < kTellingBytes) return;
  if (needs_late_ && known_ms_ >= kLongestLookMs) return;  // the end waits as long anyway
  // If a counter shows all of the payload, do not watch any counter.
  knows_delay_ = evidence_.may_lag() && !explains(payload);
  settle_ms_ = knows_delay_ && rises_late(payload.both()) ? kLongestLookMs : 0;
}

bool Readings::shown_at_once(const Traffic& payload) const {
  const auto& sites = evidence_.sites();
  return needs_late_ || known_ms_ == 0 ||
         std::all_of(sites.begin(), sites.end(),
                     [&](const auto& site) { return site->explains_at_once(payload); });
}

bool Readings::explains(const Traffic& payload) const {
  const auto& sites = evidence_.sites();
  return std::any_of(sites.begin(), sites.end(),
                     [&](const auto& site) { return site->explains(payload); });
}

bool Readings::rises_late(std::uint64_t payload_bytes) {
  bool rises = false;
  for (int waited = 0; waited < kLongestLookMs; waited += kLookMs) {
    sleep_ms(kLookMs);
    transport_.show_counters();
    for (const auto& site : evidence_.sites()) rises = site->still_rises(payload_bytes) || rises;
    // the delay of the latest counter stays unknown, so the end waits as long as the maximum
    if (rises) break;
  }
  return rises;
}

int Readings::settle_ms() const {
  const int known_ms = needs_late_ ? known_ms_ : 0;
  if (settle_ms_) return std::max(*settle_ms_, known_ms);
  if (known_ms_ > 0) return known_ms;
  return evidence_.may_lag() && run_payload_bytes_ > 0 ? kLongestLookMs : 0;
}

double Readings::end_run(int settle_ms) {
  const bool ours = known_ms_ > 0 || this->settle_ms() > 0;
  const std::int64_t began_ns = monotonic_ns();
  sleep_ms(settle_ms);
  const std::int64_t waited_ns = ours && settle_ms > 0 ? monotonic_ns() - began_ns : 0;
  for_each(&Site::read_end);
  return static_cast<double>(waited_ns);
}

bool Readings::goes_on() const {
  const auto& sites = evidence_.sites();
  return std::any_of(sites.begin(), sites.end(), [](const auto& site) { return site->goes_on(); });
}

void Readings::read_tail(int settle_ms) {
  sleep_ms(settle_ms);
  for_each(&Site::read_tail);
}

}  // namespace wireproof
