// `enter` and `agent`: ask the lab's supervisor to run a command in a node, and represent it here.
//
// Only the supervisor can enter a node: mpiexec in node n1 must start a proxy in node n2, and a
// process in a pid namespace cannot join a sibling namespace.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "commands.hpp"
#include "request.hpp"

namespace wireproof {
namespace {

constexpr const char* kStateVariable = "WIREPROOF_LAB_STATE";

Fd connect_to(const std::string& state) {
  const std::string path = state + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Failure("the path " + path + " is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  Fd peer(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!peer.is_open()) fail_errno("socket");
  if (connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail_errno("no lab answers at " + path);
  }
  return peer;
}

std::string working_directory() {
  char buffer[4096];
  if (getcwd(buffer, sizeof buffer) == nullptr) fail_errno("find the current folder");
  return buffer;
}

std::array<Fd, 3> own_streams() {
  std::array<Fd, 3> streams;
  for (int i = 0; i < 3; ++i) {
    Fd copy(fcntl(i, F_DUPFD_CLOEXEC, 3));
    if (!copy.is_open()) copy = Fd(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!copy.is_open()) fail_errno("open /dev/null");
    streams[static_cast<std::size_t>(i)] = std::move(copy);
  }
  return streams;
}

// A parent in another pid namespace appears as 0; in that case the session above watches it
// instead.
Fd parent_descriptor() {
  const pid_t parent = getppid();
  return parent > 0 ? process_descriptor(parent) : Fd();
}

// Signals are forwarded to the command. If the parent ends, this process ends, and the closed
// socket ends the command.
int stand_for(const Fd& peer, const Fd& signals, const Fd& parent) {
  for (;;) {
    pollfd wanted[3] = {
        {peer.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}, {parent.get(), POLLIN, 0}};
    if (poll(wanted, 3, -1) < 0 && errno != EINTR) fail_errno("poll");
    if (wanted[0].revents != 0) {
      Tag tag{};
      std::string text;
      if (!receive_message(peer, tag, text))
        throw Failure("the lab went away while the command ran");
      if (tag == Tag::kRefused) throw Failure(text);
      return static_cast<int>(parse_number("the exit status", text));
    }
    if (wanted[1].revents != 0) {
      const Caught caught = next_signal(signals);
      if (caught.number != 0) {
        send_message(peer, Tag::kSignal, std::string(1, static_cast<char>(caught.number)));
      }
    }
    if (wanted[2].revents != 0) return 128 + SIGHUP;
  }
}

int run_in(const std::string& state, const std::string& node, const Arguments& command) {
  if (state.empty())
    throw Failure(std::string("which lab? Set ") + kStateVariable + " or give --state FOLDER");
  const Fd signals = signal_descriptor({SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2});
  const Fd parent = parent_descriptor();
  Request request;
  request.node = node;
  request.directory = working_directory();
  request.arguments = command;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    request.environment.emplace_back(*variable);
  }
  request.inheritance = current_inheritance();
  request.streams = own_streams();
  const Fd peer = connect_to(state);
  send_request(peer, request);
  // Only the command holds these descriptors now: a reader must see end of file when the command
  // closes them.
  for (Fd& stream : request.streams) stream.reset();
  for (int i = 0; i < 2; ++i) close(i);
  return stand_for(peer, signals, parent);
}

std::string state_from_environment() {
  const char* value = std::getenv(kStateVariable);
  return value == nullptr ? "" : value;
}

}  // namespace

// enter [--state FOLDER] NODE [--] COMMAND...
int enter(const Arguments& arguments) {
  std::size_t next = 0;
  std::string state = state_from_environment();
  if (arguments.size() >= 2 && arguments[0] == "--state") {
    state = arguments[1];
    next = 2;
  }
  if (next >= arguments.size()) throw Failure("enter [--state FOLDER] NODE [--] COMMAND...");
  const std::string& node = arguments[next++];
  if (next < arguments.size() && arguments[next] == "--") ++next;
  const Arguments command(arguments.begin() + static_cast<std::ptrdiff_t>(next), arguments.end());
  if (command.empty()) throw Failure("enter: no command for node " + node);
  return run_in(state, node, command);
}

// agent [ssh options] [USER@]HOST WORD...: what MPI launchers start in place of ssh. As with ssh,
// the words are joined by spaces and passed to the node's shell: launchers quote for that shell, so
// the protocol requires this.
int agent(const Arguments& arguments) {
  constexpr std::string_view kWithValue = "bcDEeFIiJLlmOopQRSWw";
  std::size_t next = 0;
  while (next < arguments.size() && arguments[next].starts_with('-')) {
    const std::string& option = arguments[next++];
    if (option == "--") break;
    if (option.size() == 2 && kWithValue.find(option[1]) != std::string_view::npos) ++next;
  }
  if (next + 1 >= arguments.size()) throw Failure("agent [ssh options] HOST COMMAND...");
  const std::string host = arguments[next].substr(arguments[next].find('@') + 1);
  std::string line;
  for (std::size_t i = next + 1; i < arguments.size(); ++i)
    line += (line.empty() ? "" : " ") + arguments[i];
  return run_in(state_from_environment(), host, {"/bin/sh", "-c", line});
}

}  // namespace wireproof
