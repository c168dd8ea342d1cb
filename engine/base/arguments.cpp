#include "base/arguments.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/failure.hpp"

namespace wireproof {
namespace {

constexpr std::string_view kUsage =
    "usage: wireproof-engine run [--plan FILE|-] [--rank R --ranks N --meet ADDRESS:PORT "
    "[--transport ofi]] | "
    "facts [--spec FILE|-] [--root DIR] | watch [--interval-ms N] [--seconds N] [--root DIR] | "
    "providers [--libfabric PATH] | --patterns | --version";

constexpr std::pair<std::string_view, Arguments::Verb> kVerbs[] = {
    {"run", Arguments::Verb::run},
    {"facts", Arguments::Verb::facts},
    {"watch", Arguments::Verb::watch},
    {"providers", Arguments::Verb::providers},
    {"--patterns", Arguments::Verb::patterns},
    {"--version", Arguments::Verb::version},
};

std::optional<int> to_count(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 0) return std::nullopt;
  return number;
}

std::optional<int> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : to_count(text);
}

void read_option(Arguments& arguments, std::string_view option, std::string_view value) {
  const bool counts = option == "--rank" || option == "--ranks";
  const auto number = counts ? to_count(value) : std::nullopt;
  if (counts && !number) {
    throw bad_plan(std::string(option) + " " + std::string(value) + " is not a number");
  }
  if (option == "--plan") {
    arguments.plan = value;
  } else if (option == "--rank") {
    arguments.rank = number;
  } else if (option == "--ranks") {
    arguments.ranks = number;
  } else if (option == "--meet") {
    arguments.meet = value;
  } else if (option == "--transport") {
    if (value != "ofi") throw bad_plan("--transport " + std::string(value) + " is not ofi");
    arguments.transport = value;
  } else {
    throw bad_plan("unknown option " + std::string(option) + "; " + std::string(kUsage));
  }
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  if (argc < 2) throw bad_plan(std::string(kUsage));
  const std::string_view verb = argv[1];
  for (const auto& [name, known] : kVerbs) {
    if (name == verb) arguments.verb = known;
  }
  if (arguments.verb != Arguments::Verb::run) return arguments;
  if (verb != "run")
    throw bad_plan("unknown verb " + std::string(verb) + "; " + std::string(kUsage));
  for (int i = 2; i < argc; i += 2) {
    if (i + 1 == argc) throw bad_plan(std::string(argv[i]) + " needs a value");
    read_option(arguments, argv[i], argv[i + 1]);
  }
  if (arguments.rank.has_value() != arguments.ranks.has_value()) {
    throw bad_plan("--rank and --ranks come together");
  }
  if (arguments.rank && *arguments.rank >= *arguments.ranks) {
    throw bad_plan("--rank must be below --ranks");
  }
  return arguments;
}

std::optional<LauncherRank> launcher_rank() {
  constexpr const char* kNames[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"SLURM_PROCID", "SLURM_NTASKS"}};
  const auto pmix = from_environment("PMIX_RANK");
  for (const auto& [rank_name, size_name] : kNames) {
    const auto rank = from_environment(rank_name);
    const auto ranks = from_environment(size_name);
    if (rank && ranks && *rank < *ranks) return LauncherRank{pmix.value_or(*rank), *ranks};
  }
  if (pmix) return LauncherRank{*pmix, *pmix + 1};
  return std::nullopt;
}

}  // namespace wireproof
