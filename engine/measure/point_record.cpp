#include "measure/point_record.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include "base/json_writer.hpp"

namespace wireproof {
double rounded(double ns) { return std::round(ns * 1e3) / 1e3; }

std::string_view word(Stop stop) {
  constexpr std::array<std::string_view, 4> kWords = {"budget", "precision", "budget",
                                                      "iterations"};
  return kWords[static_cast<std::size_t>(stop)];
}

std::string_view word(Integrity integrity) {
  constexpr std::array<std::string_view, 3> kWords = {"ok", "corrupt", "unchecked"};
  return kWords[static_cast<std::size_t>(integrity)];
}

void write_estimate(JsonWriter& json, const Estimate& e) {
  json.key("estimate").begin_object();
  json.field("median_ns", rounded(e.median_ns))
      .field("low_ns", rounded(e.low_ns))
      .field("high_ns", rounded(e.high_ns))
      .field("blocks", e.blocks)
      .field("effective_blocks", e.effective_blocks)
      .field("autocorrelation", e.autocorrelation)
      .field("half_width", e.interval_exists ? e.half_width : 1.0)
      .field("label", name_of(e.label));
  json.end_object();
}

void write_batches(JsonWriter& json, const Samples& o, double ns_per_tick, bool brief) {
  json.key("batch_ns").begin_array();
  if (brief) {
    json.end_array().key("block_batches").begin_array().end_array();
    return;
  }
  for (const Ticks ticks : o.batch_ticks) {
    json.value(rounded(static_cast<double>(ticks) * ns_per_tick));
  }
  json.end_array().key("block_batches").begin_array();
  for (const std::uint32_t batches : o.block_batches) json.value(batches);
  json.end_array();
}

void write_warm_up(JsonWriter& json, const WarmUp& w) {
  json.key("warmup").begin_object();
  json.field("operations", w.operations)
      .field("elapsed_ns", rounded(w.elapsed_ns))
      .field("stationary", w.stationary)
      .end_object();
}

namespace {

void write_sentinels(JsonWriter& json, const PairOutcome& o) {
  json.key("sentinels").begin_array();
  for (const sentinel::Reading& reading : o.sentinels) {
    json.begin_object()
        .field("clock_read_ns", rounded(reading.clock_read_ns))
        .field("involuntary_switches", reading.involuntary_switches)
        .field("steal_ns", reading.steal_ns)
        .key("bounce_ns");
    if (reading.bounce_ns) {
      json.value(rounded(*reading.bounce_ns));
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array();
}

/// Sum over all blocks; unknown if it is unknown for any of them.
std::optional<double> waited_ns(const std::vector<sentinel::Reading>& readings) {
  double sum = 0;
  for (const sentinel::Reading& reading : readings) {
    if (!reading.waited_ns) return std::nullopt;
    sum += *reading.waited_ns;
  }
  return readings.empty() ? std::nullopt : std::optional(sum);
}

}  // namespace

std::string pair_json(const PairOutcome& o, const Point& point) {
  const bool brief = point.detail == Detail::brief;
  JsonWriter json;
  json.begin_object()
      .field("origin", o.origin)
      .field("target", o.target)
      .field("status", o.begun ? "ok" : "error")
      .field("stop", word(o.stop))
      .field("operations_per_batch", o.operations_per_batch);
  write_batches(json, o, o.ns_per_tick, brief);
  json.field("messages_forward", o.messages_forward)
      .field("messages_backward", o.messages_backward)
      .field("payload_forward_bytes", o.payload_forward_bytes)
      .field("payload_backward_bytes", o.payload_backward_bytes);
  write_warm_up(json, o.warm_up);
  json.field("window_used", o.window_used);
  if (o.estimate) write_estimate(json, *o.estimate);
  json.field("target_elapsed_ns", o.target_elapsed_ns)
      .field("origin_waited_ns", waited_ns(o.sentinels))
      .field("target_waited_ns", o.target_waited_ns);
  if (point.formula != Formula::robust) json.field("formula_value_ns", o.formula_value_ns);
  if (!brief) write_sentinels(json, o);
  json.field("integrity", word(o.integrity))
      .field("origin_core", o.origin_core)
      .field("target_core", o.target_core);
  return json.end_object().take();
}

std::string point_frame(const Point& point, const PointParts& parts) {
  JsonWriter json;
  json.begin_object()
      .field("frame", "point")
      .field("id", point.id)
      .field("repeat", point.repeat)
      .field("pattern", name_of(point.pattern))
      .field("form", name_of(point.form))
      .field("message_bytes", point.message_bytes)
      .field("window", point.window)
      .field("formula", name_of(point.formula));
  if (is_remote(point.pattern)) json.field("window_kind", name_of(point.window_kind));
  if (point.threads > 1) json.field("threads", point.threads);
  if (point.partitions > 1) json.field("partitions", point.partitions);
  if (point.pattern == Pattern::ring) json.field("order", name_of(point.order));
  if (!point.blocking) json.field("blocking", false);
  if (point.pattern == Pattern::congestion) json.field("load_bytes", point.load_bytes);
  json.field("started_unix_ns", parts.started_unix_ns).field("elapsed_ns", parts.elapsed_ns);
  json.key("pairs").raw("[" + parts.pairs + "]");
  if (!parts.group.empty()) json.key("group").raw(parts.group);
  json.key("witness").raw("[" + parts.witness + "]");
  return json.end_object().take();
}

}  // namespace wireproof
