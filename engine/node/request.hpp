// The request of `enter` to the lab's supervisor, and its transfer over the lab's socket.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "system.hpp"

namespace wireproof {

// The parts of a process that a child inherits and that cannot be sent as text.
struct Inheritance {
  mode_t file_mask;
  cpu_set_t processors;
  std::array<rlimit, RLIM_NLIMITS> limits;
};

// One command to run in a node, as if the caller had forked it there.
struct Request {
  std::string node;
  std::string directory;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  Inheritance inheritance{};
  std::array<Fd, 3> streams;  // standard input, output, error
};

// The attributes that a child of the caller would inherit.
Inheritance current_inheritance();
// Applies it as far as the supervisor is allowed to: its limits are not raised.
void take_on(const Inheritance& inheritance);

// Both throw Failure.
void send_request(const Fd& peer, const Request& request);
Request receive_request(const Fd& peer);

// Messages after the request. Client: kSignal with the signal's number. Supervisor: kEnded with the
// shell status, or kRefused with a sentence; then it closes.
enum class Tag : char { kSignal = 'S', kEnded = 'X', kRefused = 'E' };

void send_message(const Fd& peer, Tag tag, const std::string& text);
// False if the peer has gone.
bool receive_message(const Fd& peer, Tag& tag, std::string& text);

}  // namespace wireproof
