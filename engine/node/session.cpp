#include "session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/text_split.hpp"
#include "commands.hpp"
#include "namespaces.hpp"
#include "process_tree.hpp"

namespace wireproof {
namespace {

constexpr int kGraceMs = 2000;
constexpr const char* kMarkName = "WIREPROOF_SESSION=";

[[noreturn]] void fail_not_living(const std::string& name, const NodePids& living) {
  std::string known;
  for (const auto& entry : living) known += (known.empty() ? "" : ", ") + entry.first;
  throw Failure("there is no living node '" + name + "' in this lab; it has " + known);
}

// Launchers may call a node by any name on its line of the hosts file, including addresses.
std::string resolve(const std::string& name, const NodePids& nodes, const std::string& hosts_file) {
  if (nodes.contains(name)) return name;
  const std::string text = read_file(hosts_file);
  std::string_view lines = text;
  while (auto line = take_line(lines)) {
    bool matches = false;
    std::string node;
    for (std::string word(take_word(*line)); !word.empty(); word = take_word(*line)) {
      matches = matches || word == name;
      if (nodes.contains(word)) node = word;
    }
    if (matches && !node.empty()) return node;
  }
  fail_not_living(name, nodes);
}

// The supervisor may not have noticed yet that the node's first process has died: its namespaces
// are then gone, or refuse a new process.
pid_t fork_in_node(const std::string& name, const NodePids& nodes, std::unique_ptr<Door>& door) {
  const pid_t node_pid = nodes.at(name);
  try {
    if (node_pid != 0) {
      door = std::make_unique<Door>(node_pid);
      door->open_pid_namespace();
    }
    const pid_t command = fork();
    if (command < 0) fail_errno("fork in node " + name);
    return command;
  } catch (const Failure&) {
    const std::string namespaces = "/proc/" + std::to_string(node_pid) + "/ns/net";
    if (node_pid == 0 || access(namespaces.c_str(), F_OK) == 0) throw;
    NodePids living = nodes;
    living.erase(name);
    fail_not_living(name, living);
  }
}

[[noreturn]] void run_command(Request& request, const Door* door, const std::string& mark) {
  try {
    setsid();
    // Moved above 2 first, because a received stream may itself be 0, 1 or 2.
    int moved[3];
    for (std::size_t i = 0; i < 3; ++i) moved[i] = fcntl(request.streams[i].get(), F_DUPFD, 3);
    for (int i = 0; i < 3; ++i) dup2(moved[i], i);
    for (const int number : moved) close(number);
    if (door != nullptr) door->enter();
    if (chdir(request.directory.c_str()) != 0) fail_errno("enter the folder " + request.directory);
    take_on(request.inheritance);
    std::erase_if(request.environment,
                  [](const std::string& variable) { return variable.starts_with(kMarkName); });
    request.environment.push_back(mark);
    _exit(become(request.arguments, &request.environment));
  } catch (const Failure& failure) {
    dprintf(STDERR_FILENO, "wireproof-node: node %s: %s\n", request.node.c_str(), failure.what());
    _exit(kOwnFailure);
  }
}

// Forwards the client's signals until the command ends (its wait status) or the client has gone
// (-1).
int attend(const Fd& peer, const Fd& signals, pid_t command) {
  for (;;) {
    pollfd wanted[2] = {{peer.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
    if (poll(wanted, 2, -1) < 0 && errno != EINTR) return -1;
    if (wanted[1].revents != 0) {
      next_signal(signals);
      int status = 0;
      if (waitpid(command, &status, WNOHANG) == command) return status;
    }
    if (wanted[0].revents == 0) continue;
    Tag tag{};
    std::string text;
    if (!receive_message(peer, tag, text)) return -1;
    if (tag == Tag::kSignal && !text.empty()) kill(-command, text[0]);
  }
}

int run_session(const Fd& peer, const NodePids& nodes, const std::string& hosts_file) {
  Request request = receive_request(peer);
  request.node = resolve(request.node, nodes, hosts_file);
  const std::string mark = kMarkName + random_mark();
  const Fd signals = signal_descriptor({SIGCHLD});
  std::unique_ptr<Door> door;
  const pid_t command = fork_in_node(request.node, nodes, door);
  if (command == 0) run_command(request, door.get(), mark);
  for (Fd& stream : request.streams) stream.reset();
  const int status = attend(peer, signals, command);
  if (status >= 0) {
    send_message(peer, Tag::kEnded, std::to_string(shell_status(status)));
  } else {
    ProcessTree(getpid(), mark).terminate(kGraceMs);
  }
  return 0;
}

}  // namespace

void serve_session(Fd peer, const NodePids& nodes, const std::string& hosts_file) {
  int status = kOwnFailure;
  try {
    status = run_session(peer, nodes, hosts_file);
  } catch (const Failure& failure) {
    try {
      send_message(peer, Tag::kRefused, failure.what());
    } catch (const Failure&) {  // the client has gone, so no report is possible
    }
  }
  _exit(status);
}

}  // namespace wireproof
