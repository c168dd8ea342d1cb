// From a configuration to a running wire: devices, status file, loop.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

namespace wireproof::wire {

struct Start {
  std::string config;                  // path
  std::string status;                  // path
  std::map<std::string, pid_t> nodes;  // a process in each node; a node that is missing is our own
};

// Carries frames until a signal ends it; calls `ready` when every device is there. Throws Failure.
void carry(const Start& start, const std::function<void()>& ready);

}  // namespace wireproof::wire
