#include <array>
#include <cstdio>
#include <iterator>
#include <string>

#include "base/bounded_file.hpp"
#include "base/failure.hpp"
#include "base/json_writer.hpp"
#include "facts/batch.hpp"
#include "facts/collect.hpp"

namespace wireproof::facts {
namespace {

constexpr std::size_t kLongestSpec = 16 << 20;

std::string read_standard_input() {
  std::string text;
  std::array<char, 65536> chunk{};
  while (text.size() <= kLongestSpec) {
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), stdin);
    if (got == 0) break;
    text.append(chunk.data(), got);
  }
  return text;
}

struct FactsOptions {
  std::string spec = "-";
  std::string root = "/";
};

FactsOptions parse_options(int argc, char** argv) {
  FactsOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if ((argument != "--spec" && argument != "--root") || i + 1 == argc) {
      throw bad_plan("facts: '" + std::string(argument) +
                     "' is not understood; write facts [--spec FILE|-] [--root DIR]");
    }
    (argument == "--spec" ? options.spec : options.root) = argv[++i];
  }
  return options;
}

std::string read_spec(const std::string& source) {
  if (source == "-") return read_standard_input();
  FileText file = read_bounded(source, kLongestSpec);
  if (file.status != ReadStatus::ok)
    throw bad_plan("facts: cannot read spec '" + source + "': " + file.reason);
  return std::move(file.text);
}

// A plan must have a transport; a spec needs none, so one is added. Added at the end, so that line
// numbers in errors stay correct.
std::string as_plan(std::string spec) {
  if (spec.find("\ntransport ") == std::string::npos) spec += "\ntransport kind=null";
  return spec;
}

bool write_line(const std::string& line) {
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() &&
         std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
}

std::string_view word(FactRequest::Kind kind) {
  constexpr std::array<std::string_view, 3> kWords = {"file", "glob", "command"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view word(Status status) {
  constexpr std::array<std::string_view, 5> kWords = {"ok", "missing", "denied", "timeout",
                                                      "failed"};
  return kWords[static_cast<std::size_t>(status)];
}

}  // namespace

std::string frame(int rank, const Fact& fact) {
  JsonWriter json;
  json.begin_object().field("frame", "fact").field("rank", rank).field("kind", word(fact.kind));
  json.field("status", word(fact.status));
  if (fact.kind == FactRequest::Kind::command) {
    json.key("argv").begin_array();
    for (const std::string& argument : fact.argv) json.value(argument);
    json.end_array();
  } else {
    json.field("path", fact.path);
  }
  json.field("text", fact.text)
      .field("exit_status", fact.exit_status)
      .field("truncated", fact.truncated);
  if (!fact.reason.empty()) json.field("reason", fact.reason);
  return json.end_object().take();
}

int facts_main(int argc, char** argv) try {
  const FactsOptions options = parse_options(argc, argv);
  const Plan plan = parse_plan(as_plan(read_spec(options.spec)));
  for (const std::vector<Fact>& answer : collect_all(plan.facts, options.root)) {
    for (const Fact& fact : answer) {
      if (!write_line(frame(0, fact)))
        throw cannot_measure("output", "standard output cannot be written");
    }
  }
  return static_cast<int>(ExitStatus::ok);
} catch (const Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return static_cast<int>(failure.status());
}

}  // namespace wireproof::facts
