// The witness part of the `idle` and `point` frames.
#pragma once

#include "base/json_writer.hpp"
#include "witness/reader.hpp"

namespace wireproof::witness {

/// One element of a point's `witness`:
/// {"rank","interval_ns","source","counters":{name:[before,after]},"unreadable":[..]} and
/// "foreign_sysfs":true if /sys shows another namespace.
/// "quiet":{"interval_ns","counters":{name:difference}} if there were quiet windows.
void write_point(JsonWriter& json, int rank, const Delta& delta, const Quiet* quiet = nullptr);
/// The same for a rank whose namespace `reader` reads.
void write_shared(JsonWriter& json, int rank, int reader, double interval_ns);

/// The fields of a `total` frame after "frame": as for a point, "settled_ns", and
/// "tail":[{"interval_ns","counters":{name:difference}}..] if anything was read after it.
void write_total_fields(JsonWriter& json, int rank, const Delta& delta, double settled_ns,
                        const std::vector<Delta>& tail);

/// The fields of an `idle` frame after "frame": counters are differences, negative if a counter
/// fell; `standing`: the byte counters that can be read, with their values.
void write_idle_fields(JsonWriter& json, int rank, const Delta& delta,
                       const std::vector<Standing>& standing);
void write_idle_shared_fields(JsonWriter& json, int rank, int reader, double interval_ns);

}  // namespace wireproof::witness
