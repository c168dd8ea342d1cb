#include "measure/session.hpp"

#include <sched.h>

#include <optional>

#include "measure/schedule.hpp"

namespace wireproof {
namespace {

Command next_command(Pair& pair) {
  Command command;
  pair.recv_control(std::as_writable_bytes(std::span(&command, 1)));
  return command;
}

}  // namespace

PointShape shape_of(const Point& point, const Policy& policy) {
  return {.pattern = point.pattern,
          .form = point.form,
          .formula = point.formula,
          .bytes = point.message_bytes,
          .window = bounded_window(point, policy),
          .window_kind = point.window_kind,
          .threads = point.threads,
          .partitions = point.partitions};
}

void send_command(Pair& pair, const Command& command) {
  pair.send_control(std::as_bytes(std::span(&command, 1)));
}

Traffic serve_target(Pair& pair, const EndContext& context) {
  const auto runner = pair.make_runner(shape_of(*context.point, *context.policy));
  TargetReport report;
  const TargetReport ready;
  pair.send_control(std::as_bytes(std::span(&ready, 1)));
  Ticks elapsed = 0;
  std::uint64_t operations = 0;
  std::optional<sentinel::WaitClock> wait;  // virtual time does not pass while a rank waits
  if (context.host_clock != nullptr) wait.emplace();
  const auto waited = [&wait] { return wait ? wait->waited_ns() : std::nullopt; };
  double waited_ns = 0;
  for (Command c = next_command(pair); c.order != Order::stop; c = next_command(pair)) {
    if (c.order == Order::run) {
      const auto before = waited();
      const Ticks ticks = runner->answer(c.segment);
      operations += c.segment.total() * static_cast<std::uint64_t>(runner->granule());
      if (c.counted == 0) continue;
      elapsed += ticks;
      waited_ns += waited().value_or(0) - before.value_or(0);
    } else if (c.order == Order::forget) {
      elapsed = 0;
      waited_ns = 0;
    } else if (c.order == Order::verify) {
      if (!runner->verify_target(c.seed)) report.corrupt = 1;
    } else if (context.bounce != nullptr) {
      context.bounce->measure();
    }
  }
  report.elapsed_ns = static_cast<double>(elapsed) * pair.clock().ns_per_tick;
  if (waited()) report.waited_ns = waited_ns;
  report.core = sched_getcpu();
  pair.send_control(std::as_bytes(std::span(&report, 1)));
  const std::uint64_t payload_bytes = operations * context.point->message_bytes;
  const bool answers = moves_backward(context.point->pattern, context.point->form);
  return {.sent_bytes = answers ? payload_bytes : 0,
          .received_bytes = moves_forward(context.point->pattern) ? payload_bytes : 0};
}

}  // namespace wireproof
