#include "measure/group_record.hpp"

#include "measure/point_record.hpp"

namespace wireproof {
namespace {

constexpr double kNsPerTick = 1e-3;  // picoseconds

template <class T>
void write_list(JsonWriter& json, std::string_view name, const std::vector<T>& values) {
  json.key(name).begin_array();
  for (const T& value : values) json.value(value);
  json.end_array();
}

void write_overlap(JsonWriter& json, const Overlap& o) {
  json.key("overlap").begin_object();
  json.field("pure_ns", rounded(o.pure_ns))
      .field("compute_ns", rounded(o.compute_ns))
      .field("total_ns", rounded(o.total_ns))
      .field("share", rounded(o.share))
      .end_object();
}

void write_quantiles(JsonWriter& json, std::string_view name, const Quantiles& q) {
  json.key(name).begin_object();
  json.field("samples", q.samples)
      .field("p50_ns", rounded(q.p50_ns))
      .field("p95_ns", rounded(q.p95_ns))
      .field("p99_ns", rounded(q.p99_ns))
      .field("max_ns", rounded(q.max_ns))
      .end_object();
}

}  // namespace

std::string group_json(const GroupOutcome& o, const Point& point) {
  JsonWriter json;
  json.begin_object();
  write_list(json, "members", point.members);
  json.field("status", "ok")
      .field("stop", word(o.stop))
      .field("operations_per_batch", o.operations_per_batch);
  write_batches(json, o, kNsPerTick, point.detail == Detail::brief);
  write_warm_up(json, o.warm_up);
  json.field("window_used", o.window_used)
      .field("messages_per_operation", o.messages_per_operation);
  std::vector<double> member_ns;
  for (const double ns : o.member_ns) member_ns.push_back(rounded(ns));
  write_list(json, "member_ns", member_ns);
  write_list(json, "sent_bytes", o.sent_bytes);
  write_list(json, "received_bytes", o.received_bytes);
  json.field("exact", o.exact);
  if (o.estimate) write_estimate(json, *o.estimate);
  if (o.overlap) write_overlap(json, *o.overlap);
  if (o.quiet) write_quantiles(json, "quiet", *o.quiet);
  if (o.loaded) write_quantiles(json, "loaded", *o.loaded);
  json.field("formula_value_ns", o.formula_value_ns).field("integrity", word(o.integrity));
  return json.end_object().take();
}

}  // namespace wireproof
