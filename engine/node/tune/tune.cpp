// `tune`: changes settings of this machine so that every change can be reverted.
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "node/commands.hpp"
#include "node/system.hpp"
#include "node/tune/apply.hpp"
#include "node/tune/interrupt.hpp"
#include "node/tune/verbs.hpp"

namespace wireproof {
namespace {

using tune::Answers;
using tune::Options;

constexpr const char* kStateFolder = "/var/lib/wireproof/tune";

std::string read_request() {
  std::string text;
  char piece[16384];
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && errno == EINTR && !tune::interrupted()) continue;
    if (got < 0) fail_errno("the request on standard input");
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > tune::kLongestRequest) throw bad_plan("the request is longer than 1 MiB");
  }
}

int apply(const Options& options, const Answers& answers) {
  return tune::apply(options, read_request(), answers);
}

struct Verb {
  std::string_view name;
  int (*run)(const Options&, const Answers&);
};

constexpr Verb kVerbs[] = {{"apply", apply},
                           {"confirm", tune::confirm},
                           {"revert", tune::revert},
                           {"status", tune::status}};

std::string absolute(const std::string& path) {
  if (path.find('\0') != std::string::npos || path.empty()) throw bad_plan("an empty path");
  if (path.front() == '/') return path;
  char here[PATH_MAX];
  if (getcwd(here, sizeof here) == nullptr) fail_errno("the current folder");
  return std::string(here) + "/" + path;
}

std::string resolved(const std::string& path) {
  char text[PATH_MAX];
  if (realpath(path.c_str(), text) == nullptr)
    throw bad_plan("--root " + path + ": " + std::strerror(errno));
  return text;
}

Options parse(const Arguments& arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--force") {
      options.force = true;
      continue;
    }
    if (name != "--state" && name != "--root" && name != "--id")
      throw bad_plan("tune: unknown option " + name);
    if (++i == arguments.size()) throw bad_plan("tune: " + name + " has no value");
    if (name == "--state") options.state = absolute(arguments[i]);
    if (name == "--root") options.root = resolved(arguments[i]);
    if (name == "--id") options.id = arguments[i];
  }
  if (!options.id.empty() && !tune::is_name(options.id))
    throw bad_plan("--id is no name of a set: letters, digits, '.', '_' and '-'");
  if (options.state.empty())
    options.state = (options.root == "/" ? "" : options.root) + kStateFolder;
  return options;
}

int run(const Arguments& arguments) {
  for (const Verb& verb : kVerbs) {
    if (arguments.empty() || verb.name != arguments[0]) continue;
    tune::note_interrupts();
    return verb.run(parse(arguments), Answers(STDOUT_FILENO));
  }
  throw bad_plan("tune takes apply, confirm, revert or status");
}

}  // namespace

int tune_command(const Arguments& arguments) {
  try {
    return run(arguments);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "wireproof-node: %s\n", failure.what());
    return static_cast<int>(failure.status());
  }
}

}  // namespace wireproof
