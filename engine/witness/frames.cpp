#include "witness/frames.hpp"

namespace wireproof::witness {
namespace {

void write_origin(JsonWriter& json, int rank, const Delta& delta) {
  json.field("rank", rank).field("interval_ns", delta.interval_ns).field("source", delta.source);
  if (delta.foreign_sysfs) json.field("foreign_sysfs", true);
}

// Modulo 2^64 and back: the rise of a counter that rose by less than 2^63, and a negative number
// for a counter that fell.
std::int64_t difference(const Change& change) {
  return static_cast<std::int64_t>(change.after - change.before);
}

void write_differences(JsonWriter& json, const Delta& delta) {
  json.key("counters").begin_object();
  for (const Change& change : delta.changed) json.field(change.name, difference(change));
  json.end_object();
}

void write_counters(JsonWriter& json, const Delta& delta) {
  json.key("counters").begin_object();
  for (const Change& change : delta.changed) {
    json.key(change.name).begin_array().value(change.before).value(change.after).end_array();
  }
  json.end_object().key("unreadable").begin_array();
  for (const std::string_view name : delta.unreadable) json.value(name);
  json.end_array();
}

}  // namespace

void write_point(JsonWriter& json, int rank, const Delta& delta, const Quiet* quiet) {
  json.begin_object();
  write_origin(json, rank, delta);
  write_counters(json, delta);
  if (quiet != nullptr) {
    json.key("quiet").begin_object().field("interval_ns", quiet->interval_ns);
    json.key("counters").begin_object();
    for (const auto& [name, rise] : quiet->changed) json.field(name, rise);
    json.end_object().end_object();
  }
  json.end_object();
}

void write_total_fields(JsonWriter& json, int rank, const Delta& delta, double settled_ns,
                        const std::vector<Delta>& tail) {
  write_origin(json, rank, delta);
  json.field("settled_ns", settled_ns);
  write_counters(json, delta);
  if (tail.empty()) return;
  json.key("tail").begin_array();
  for (const Delta& window : tail) {
    json.begin_object().field("interval_ns", window.interval_ns);
    write_differences(json, window);
    json.end_object();
  }
  json.end_array();
}

void write_shared(JsonWriter& json, int rank, int reader, double interval_ns) {
  json.begin_object().field("rank", rank).field("interval_ns", interval_ns);
  json.field("shared_with", reader).end_object();
}

void write_idle_fields(JsonWriter& json, int rank, const Delta& delta,
                       const std::vector<Standing>& standing) {
  write_origin(json, rank, delta);
  write_differences(json, delta);
  json.key("standing").begin_object();
  for (const Standing& counter : standing) json.field(counter.name, counter.value);
  json.end_object();
}

void write_idle_shared_fields(JsonWriter& json, int rank, int reader, double interval_ns) {
  json.field("rank", rank).field("interval_ns", interval_ns).field("shared_with", reader);
}

}  // namespace wireproof::witness
