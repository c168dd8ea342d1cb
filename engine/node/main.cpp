// wireproof-node: holds lab nodes, runs commands in them, guards jobs, and changes settings.
#include <cstdio>
#include <string_view>

#include "base/program.hpp"
#include "commands.hpp"
#include "system.hpp"

namespace {

using wireproof::Arguments;

constexpr const char* kUsage =
    "wireproof-node hold  --lab NAME --cookie HEX --state FOLDER --report-fd N --control-fd N "
    "[--user-namespace] [--wire] --node NAME=net,uts,ipc,mount,pid,shm ...\n"
    "wireproof-node enter [--state FOLDER] NODE [--] COMMAND...\n"
    "wireproof-node agent [ssh options] HOST COMMAND...   (also when called wireproof-agent)\n"
    "wireproof-node guard [--deadline-ms N] [--control-fd N | --control-stdin] -- COMMAND...\n"
    "wireproof-node sockets NAME=VALUE\n"
    "wireproof-node wire  --config FILE --status FILE [--node NAME=PID ...]\n"
    "wireproof-node tune  apply|confirm|revert|status [--state FOLDER] [--id SET] [--root FOLDER] "
    "[--force]   (apply reads the request on standard input)\n";

struct Subcommand {
  std::string_view name;
  int (*run)(const Arguments&);
  int failure;
};

constexpr Subcommand kSubcommands[] = {
    {"hold", wireproof::hold, wireproof::kOwnFailure},
    {"enter", wireproof::enter, wireproof::kOwnFailure},
    {"agent", wireproof::agent, wireproof::kAgentFailure},
    {"guard", wireproof::guard, wireproof::kOwnFailure},
    {"sockets", wireproof::sockets, wireproof::kOwnFailure},
    {"wire", wireproof::wire_command, wireproof::kOwnFailure},
    {"tune", wireproof::tune_command, wireproof::kOwnFailure},
};

int run(std::string_view name, const Arguments& arguments) {
  for (const Subcommand& subcommand : kSubcommands) {
    if (subcommand.name != name) continue;
    try {
      return subcommand.run(arguments);
    } catch (const wireproof::Failure& failure) {
      std::fprintf(stderr, "wireproof-node: %s\n", failure.what());
      return subcommand.failure;
    }
  }
  std::fputs(kUsage, stderr);
  return wireproof::kOwnFailure;
}

}  // namespace

int main(int argc, char** argv) {
  wireproof::search_absolute_folders_only();
  const std::string_view path(argc > 0 ? argv[0] : "");
  // mpiexec -launcher-exec takes a path without arguments, so a link with this name is the agent.
  if (path.substr(path.rfind('/') + 1) == "wireproof-agent")
    return run("agent", {argv + 1, argv + argc});
  if (argc < 2) return run("", {});
  if (std::string_view(argv[1]) == "--help") return std::fputs(kUsage, stdout) < 0;
  return run(argv[1], {argv + 2, argv + argc});
}
