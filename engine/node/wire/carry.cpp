#include "carry.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>

#include "node/commands.hpp"
#include "tap.hpp"
#include "wire.hpp"

namespace wireproof {
namespace wire {

void carry(const Start& start, const std::function<void()>& ready) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "lab-wire");
  const Config config = parse_config(read_file(start.config));
  std::vector<Fd> taps;
  for (const PortConfig& port : config.ports) {
    const auto node = start.nodes.find(port.node);
    taps.push_back(open_tap(node == start.nodes.end() ? 0 : node->second, port.device));
  }
  Status status(start.status, taps.size());
  Wire loop(start.config, config, std::move(taps), status);
  ready();
  loop.run();
}

}  // namespace wire

// `wire`: started by hand and by tests; a lab's supervisor calls carry() directly.
int wire_command(const Arguments& arguments) {
  wire::Start start;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    if (i + 1 == arguments.size()) throw Failure("wire: " + name + " has no value");
    const std::string& value = arguments[i + 1];
    if (name == "--config") {
      start.config = value;
    } else if (name == "--status") {
      start.status = value;
    } else if (const auto equals = value.find('=');
               name == "--node" && equals != std::string::npos) {
      start.nodes[value.substr(0, equals)] =
          static_cast<pid_t>(parse_number(name, value.substr(equals + 1)));
    } else {
      throw Failure("wire: unknown option " + name);
    }
  }
  if (start.config.empty() || start.status.empty()) {
    throw Failure("wire: --config and --status are needed");
  }
  wire::carry(start, [] {
    std::puts("ready");
    std::fflush(stdout);
  });
  return 0;
}

}  // namespace wireproof
