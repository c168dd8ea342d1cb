// wireproof-engine reads a plan, writes frames, and does not judge
// (docs/reference/engine-interface.md).
#include <cstdio>

#include "base/arguments.hpp"
#include "base/program.hpp"
#include "base/version.hpp"
#include "facts/collect.hpp"
#include "measure/pattern_list.hpp"
#include "measure/run.hpp"
#include "transport/ofi/providers.hpp"
#include "variant.hpp"

namespace wireproof {
namespace {

int print(const std::string& text) {
  std::puts(text.c_str());
  return static_cast<int>(ExitStatus::ok);
}

int obey(const Arguments& arguments, int argc, char** argv) {
  using Verb = Arguments::Verb;
  switch (arguments.verb) {
    case Verb::run:
      return run(arguments, kVariant, argc, argv);
    case Verb::facts:
      return facts::facts_main(argc - 1, argv + 1);
    case Verb::watch:
      return kVariant.watch(argc - 1, argv + 1);
    case Verb::providers:
      return ofi::providers_main(argc - 1, argv + 1);
    case Verb::patterns:
      return print(pattern_list());
    case Verb::version:
      return print(std::string("wireproof-engine ") + kVersion + " " + kVariant.abi);
  }
  return static_cast<int>(ExitStatus::bad_plan);
}

}  // namespace
}  // namespace wireproof

int main(int argc, char** argv) {
  using namespace wireproof;
  search_absolute_folders_only();
  try {
    return obey(parse_arguments(argc, argv), argc, argv);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "wireproof-engine: %s\n", failure.what());
    return static_cast<int>(failure.status());
  }
}
