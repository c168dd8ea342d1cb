#include "witness/frames.hpp"

namespace wireproof::witness {
namespace {

void write_origin(JsonWriter& json, int rank, const Delta& delta) {
  json.field("rank", rank).field("interval_ns", delta.interval_ns).field("source", delta.source);
  if (delta.foreign_sysfs) json.field("foreign_sysfs", true);
}

// Modulo 2^64 and back: a counter that went up by less than 2^63 gives its rise, one that went back
// a negative number.
std::int64_t difference(const Change& change) {
  return static_cast<std::int64_t>(change.after - change.before);
}

}  // namespace

void write_point(JsonWriter& json, int rank, const Delta& delta) {
  json.begin_object();
  write_origin(json, rank, delta);
  json.key("counters").begin_object();
  for (const Change& change : delta.changed) {
    json.key(change.name).begin_array().value(change.before).value(change.after).end_array();
  }
  json.end_object().key("unreadable").begin_array();
  for (const std::string_view name : delta.unreadable) json.value(name);
  json.end_array().end_object();
}

void write_shared(JsonWriter& json, int rank, int reader, double interval_ns) {
  json.begin_object().field("rank", rank).field("interval_ns", interval_ns);
  json.field("shared_with", reader).end_object();
}

void write_idle_fields(JsonWriter& json, int rank, const Delta& delta) {
  write_origin(json, rank, delta);
  json.key("counters").begin_object();
  for (const Change& change : delta.changed) json.field(change.name, difference(change));
  json.end_object();
}

void write_idle_shared_fields(JsonWriter& json, int rank, int reader, double interval_ns) {
  json.field("rank", rank).field("interval_ns", interval_ns).field("shared_with", reader);
}

}  // namespace wireproof::witness
