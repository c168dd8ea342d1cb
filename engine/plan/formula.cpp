#include "plan/formula.hpp"

#include <string>

namespace wireproof {
namespace {

bool has_pattern(Formula formula, Pattern pattern) {
  return has_loop(pattern, Form::latency, formula) || has_loop(pattern, Form::stream, formula);
}

void append(std::string& list, std::string_view item) {
  list.append(list.empty() ? "" : ", ").append(item);
}

std::string patterns_of(Formula formula) {
  std::string list;
  for (std::size_t i = 0; i < kPatterns.size(); ++i) {
    if (has_pattern(formula, static_cast<Pattern>(i))) append(list, kPatterns[i].name);
  }
  return list;
}

std::string formulas_of(Pattern pattern, Form form) {
  std::string list;
  for (std::size_t i = 0; i < kFormulaNames.size(); ++i) {
    if (has_loop(pattern, form, static_cast<Formula>(i))) append(list, kFormulaNames[i]);
  }
  return list;
}

}  // namespace

void check_formula(const Statement& line, const Point& point) {
  const std::string name(name_of(point.pattern));
  const std::string formula(name_of(point.formula));
  const std::string known = formulas_of(point.pattern, point.form);
  if (!has_loop(point.pattern, point.form, point.formula)) {
    line.fail("formula " + formula + " has no " + name + " of form " +
              std::string(name_of(point.form)) + ": " + formula + " has only " +
              patterns_of(point.formula) + "; known for it: " + known);
  }
  if (!point.blocking && point.formula != Formula::robust) {
    line.fail("blocking=0 has only formula robust; known for the blocking " + name + ": " + known);
  }
  if (point.formula == Formula::hpcc && point.message_bytes == 0) {
    line.fail("formula hpcc marks the ends of a message: message_bytes must be 1 or more");
  }
}

}  // namespace wireproof
