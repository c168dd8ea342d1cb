#include "measure/watch_writer.hpp"

#include "base/json_writer.hpp"

namespace wireproof {

using witness::Depth;

std::string WatchWriter::reading(const witness::Snapshot& snapshot, Depth depth, int asked) {
  JsonWriter json;
  json.begin_object().field("frame", "reading").field("t_ns", snapshot.middle_ns());
  if (asked > 0) json.field("asked", asked);
  json.field("source", reader_.source()).key("counters").begin_object();
  written_.resize(reader_.counter_count());
  std::vector<std::string_view> lost;
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const std::string_view name = reader_.counter_name(i);
    if (depth == Depth::bytes && !witness::tells_bytes(name)) continue;
    const auto value = snapshot.at(i);
    if (value && value != written_[i]) json.field(name, *value);
    if (!value && depth == Depth::everything) lost.push_back(name);
    written_[i] = value;
  }
  json.end_object();
  if (!lost.empty()) {
    json.key("lost").begin_array();
    for (const std::string_view name : lost) json.value(name);
    json.end_array();
  }
  return json.end_object().take();
}

}  // namespace wireproof
