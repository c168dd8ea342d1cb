#include "record/frames.hpp"

#include <cmath>

#include "base/json_writer.hpp"
#include "base/version.hpp"

namespace wireproof {
namespace {

constexpr int kSchema = 1;

/// Whole picoseconds: a clock tick is about 400 of them, and more digits would only make the line
/// longer.
double rounded(double ns) { return std::round(ns * 1e3) / 1e3; }

}  // namespace

std::string open_frame(const Plan& plan, const OpenFacts& facts) {
  JsonWriter json;
  json.begin_object()
      .field("frame", "open")
      .field("schema", kSchema)
      .field("engine", kVersion)
      .field("abi", facts.abi)
      .field("transport", name_of(plan.transport))
      .field("run_id", plan.run_id)
      .field("seed", plan.seed)
      .field("ranks", facts.ranks);
  json.key("clock").begin_object();
  json.field("source", name_of(facts.clock.source))
      .field("ns_per_tick", facts.clock.ns_per_tick)
      .field("quantum_ns", rounded(facts.clock.quantum_ns))
      .field("read_cost_ns", rounded(facts.clock.read_cost_ns));
  return json.end_object().end_object().take();
}

std::string floor_frame(Pattern pattern, Form form, double floor_ns) {
  JsonWriter json;
  json.begin_object()
      .field("frame", "floor")
      .field("pattern", name_of(pattern))
      .field("form", name_of(form))
      .field("floor_ns", rounded(floor_ns));
  return json.end_object().take();
}

std::string start_frame(std::int64_t id) {
  JsonWriter json;
  return json.begin_object().field("frame", "start").field("id", id).end_object().take();
}

std::string error_frame(std::string_view code, std::string_view message, int rank,
                        std::optional<std::int64_t> id) {
  JsonWriter json;
  json.begin_object()
      .field("frame", "error")
      .field("code", code)
      .field("message", message)
      .field("id", id)
      .field("rank", rank);
  return json.end_object().take();
}

std::string close_frame(std::size_t points, std::size_t failed, std::int64_t elapsed_ns,
                        std::uint64_t peak_rss_bytes) {
  JsonWriter json;
  json.begin_object()
      .field("frame", "close")
      .field("points", points)
      .field("failed", failed)
      .field("elapsed_ns", elapsed_ns)
      .field("peak_rss_bytes", peak_rss_bytes);
  return json.end_object().take();
}

}  // namespace wireproof
