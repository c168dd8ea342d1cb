// The catalogue of patterns as constants, and the properties that follow from a row: the forms and
// formulas of a pattern, the direction of its payload, its operation. The rows are in
// plan/patterns.def.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace wireproof {

enum class Form { latency, stream };
inline constexpr auto kFormNames = std::to_array<std::string_view>({"latency", "stream"});

enum class Formula { robust, osu, imb_mpi1, imb_p2p, hpcc };
inline constexpr auto kFormulaNames =
    std::to_array<std::string_view>({"robust", "osu", "imb-mpi1", "imb-p2p", "hpcc"});

enum class Pattern {
#define WIREPROOF_PATTERN(name, kind, access, payload, unit_bytes) name,
#include "plan/patterns.def"
};

enum class PatternKind { pair, group, collective };
enum class Access { messages, memory, sum, word };
enum class Payload { forward, backward, both, members };

struct PatternRow {
  std::string_view name;
  PatternKind kind;
  Access access;
  Payload payload;
  std::size_t unit_bytes;
};

inline constexpr auto kPatterns = std::to_array<PatternRow>({
#define WIREPROOF_PATTERN(name, kind, access, payload, unit_bytes) \
  {#name, PatternKind::kind, Access::access, Payload::payload, unit_bytes},
#include "plan/patterns.def"
});

/// The names alone, in the order of the enumerators.
inline constexpr auto kPatternNames = [] {
  std::array<std::string_view, kPatterns.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPatterns[i].name;
  return names;
}();

/// A loop that a transport provides. `by_messages`: every transport provides it.
struct LoopRow {
  Pattern pattern;
  Form form;
  Formula formula;
  bool by_messages = true;
};

inline constexpr auto kLoops = std::to_array<LoopRow>({
#define WIREPROOF_PAIR_LOOP(name, form, formula, needs, Runner, Loops, edges) \
  {Pattern::name, Form::form, Formula::formula, std::string_view(#needs) == "Link"},
#define WIREPROOF_GROUP_LOOP(name, form, formula, Loops, edges) \
  {Pattern::name, Form::form, Formula::formula},
#define WIREPROOF_GROUP_RUNNER(name, form, formula, Runner) \
  {Pattern::name, Form::form, Formula::formula},
#define WIREPROOF_COLLECTIVE(name, Call)                                                         \
  {Pattern::name, Form::latency, Formula::robust}, {Pattern::name, Form::latency, Formula::osu}, \
      {Pattern::name, Form::latency, Formula::imb_mpi1},
#include "plan/patterns.def"
});

constexpr std::string_view name_of(Form form) { return kFormNames[static_cast<std::size_t>(form)]; }
constexpr std::string_view name_of(Formula formula) {
  return kFormulaNames[static_cast<std::size_t>(formula)];
}

constexpr const PatternRow& row_of(Pattern pattern) {
  return kPatterns[static_cast<std::size_t>(pattern)];
}

constexpr std::string_view name_of(Pattern pattern) { return row_of(pattern).name; }

constexpr bool has_loop(Pattern pattern, Form form, Formula formula) {
  for (const LoopRow& row : kLoops) {
    if (row.pattern == pattern && row.form == form && row.formula == formula) return true;
  }
  return false;
}

/// Whether the pattern has that form; if it has both, latency is the default.
constexpr bool has_form(Pattern pattern, Form form) {
  return has_loop(pattern, form, Formula::robust);
}

/// Measured by all `members` of a point together; other patterns are measured by disjoint pairs.
constexpr bool is_group(Pattern pattern) { return row_of(pattern).kind != PatternKind::pair; }

/// One call of the library by all members.
constexpr bool is_collective(Pattern pattern) {
  return row_of(pattern).kind == PatternKind::collective;
}

/// The origin works in the target's exposed memory.
constexpr bool is_remote(Pattern pattern) { return row_of(pattern).access != Access::messages; }

/// Works on one word of 64 bits and returns its old value: no other size, and no stream.
constexpr bool is_word_atomic(Pattern pattern) { return row_of(pattern).access == Access::word; }

/// Needs more of a transport than sending and receiving.
constexpr bool is_beyond_messages(Pattern pattern) {
  for (const LoopRow& row : kLoops) {
    if (row.pattern == pattern) return !row.by_messages;
  }
  return false;
}

/// An operation is a round trip, and its number is half of its time. A pattern with a single form
/// has it whatever is requested.
constexpr bool is_round_trip(Pattern pattern, Form form) {
  const PatternRow& row = row_of(pattern);
  if (row.kind != PatternKind::pair || row.access != Access::messages) return false;
  if (!has_form(pattern, Form::latency)) return false;
  return form == Form::latency || !has_form(pattern, Form::stream);
}

/// Whether an operation moves payload from the origin, or to it.
constexpr bool moves_forward(Pattern pattern) {
  return row_of(pattern).payload != Payload::backward;
}
constexpr bool moves_backward(Pattern pattern, Form form) {
  return is_round_trip(pattern, form) || row_of(pattern).payload != Payload::forward;
}

}  // namespace wireproof
