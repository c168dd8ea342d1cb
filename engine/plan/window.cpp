#include "plan/window.hpp"

#include <algorithm>

namespace wireproof {
namespace {

/// For groups, the window of a sender of an incast and the rounds in flight of an all_to_all are
/// bounded by the bytes that meet at one member.
int bounded_group_window(const Point& point, const Policy& policy) {
  const std::size_t others = point.members.size() - 1;
  const bool meet = point.pattern == Pattern::incast;
  const std::size_t bytes = std::max<std::size_t>(1, point.message_bytes) * (meet ? others : 1);
  const std::size_t most = std::max<std::size_t>(2, policy.in_flight_bytes / bytes);
  const std::size_t window = std::min(most, static_cast<std::size_t>(point.window));
  if (point.pattern == Pattern::all_to_all) return static_cast<int>(std::min(window, others));
  return static_cast<int>(std::max<std::size_t>(2, window / 2 * 2));  // two equal halves
}

/// For one of the disturbing streams.
int bounded_load_window(const Point& point, const Policy& policy) {
  const std::size_t most = std::max<std::size_t>(2, policy.in_flight_bytes / point.load_bytes);
  const std::size_t window = std::min(most, static_cast<std::size_t>(point.window));
  return static_cast<int>(std::max<std::size_t>(2, window / 2 * 2));  // two equal halves
}

}  // namespace

int bounded_window(const Point& point, const Policy& policy) {
  if (point.pattern == Pattern::congestion) return bounded_load_window(point, policy);
  if (point.form == Form::latency) return 1;
  if (is_group(point.pattern) && point.formula == Formula::robust) {
    return bounded_group_window(point, policy);
  }
  if (point.formula == Formula::imb_mpi1 && point.pattern == Pattern::exchange) return 1;
  if (point.formula != Formula::robust)
    return point.window;  // a different window would change the formula
  const std::size_t bytes =
      std::max<std::size_t>(1, point.message_bytes) * static_cast<std::size_t>(point.threads);
  const std::size_t most = std::max<std::size_t>(2, policy.in_flight_bytes / bytes);
  const auto window =
      static_cast<int>(std::min<std::size_t>(most, static_cast<std::size_t>(point.window)));
  return is_remote(point.pattern) ? window : std::max(2, window / 2 * 2);  // two equal halves
}

}  // namespace wireproof
