#include "measure/pattern_list.hpp"

#include "base/json_writer.hpp"
#include "plan/plan.hpp"
#include "transport/null/group_link.hpp"

namespace wireproof {
namespace {

constexpr int kMembers = 4;
constexpr std::array<std::string_view, 3> kKindNames = {"pair", "group", "collective"};
constexpr std::array<std::string_view, 4> kAccessNames = {"messages", "memory", "sum", "word"};

void write_formulas(JsonWriter& json, Pattern pattern, Form form) {
  json.key("formulas").begin_array();
  for (std::size_t i = 0; i < kFormulaNames.size(); ++i) {
    if (has_loop(pattern, form, static_cast<Formula>(i))) json.value(kFormulaNames[i]);
  }
  json.end_array();
}

void write_forms(JsonWriter& json, Pattern pattern) {
  json.key("forms").begin_array();
  for (const Form form : {Form::latency, Form::stream}) {
    if (!has_form(pattern, form)) continue;
    json.begin_object().field("form", name_of(form));
    write_formulas(json, pattern, form);
    if (!is_group(pattern)) {
      json.field("origin_sends", moves_forward(pattern) ? 1 : 0);
      json.field("target_sends", moves_backward(pattern, form) ? 1 : 0);
    }
    json.end_object();
  }
  json.end_array();
}

/// Derived from the loops themselves; if some pairs disturb, the first two of four are watched.
void write_group(JsonWriter& json, Pattern pattern, std::size_t bytes) {
  const HostClock clock;
  const auto end = make_null_member(clock, kMembers);
  const auto runner = end->make_runner({.pattern = pattern,
                                        .bytes = pattern == Pattern::barrier ? 0 : bytes,
                                        .members = kMembers,
                                        .left = 1,
                                        .right = 1,
                                        .watched = 1,
                                        .load_bytes = bytes});
  json.field("messages_per_operation", runner->layout().messages);
  json.key("sent").begin_array();
  for (int i = 0; i < kMembers; ++i) json.value(runner->traffic(i).sent_bytes / bytes);
  json.end_array().key("received").begin_array();
  for (int i = 0; i < kMembers; ++i) json.value(runner->traffic(i).received_bytes / bytes);
  json.end_array();
}

}  // namespace

std::string pattern_list() {
  JsonWriter json;
  json.begin_object().field("members", kMembers).key("patterns").begin_array();
  for (std::size_t i = 0; i < kPatterns.size(); ++i) {
    const PatternRow& row = kPatterns[i];
    const auto pattern = static_cast<Pattern>(i);
    json.begin_object()
        .field("name", row.name)
        .field("kind", kKindNames[static_cast<std::size_t>(row.kind)])
        .field("access", kAccessNames[static_cast<std::size_t>(row.access)])
        .field("unit_bytes", row.unit_bytes);
    write_forms(json, pattern);
    if (is_group(pattern)) write_group(json, pattern, row.unit_bytes);
    json.end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace wireproof
