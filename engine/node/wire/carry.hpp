// From a configuration to a running wire: devices, status file, loop.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

namespace wireproof::wire {

struct Start {
  std::string config;  // path
  std::string status;  // path
  // a process in each node; a node that is not listed is in the caller's namespace
  std::map<std::string, pid_t> nodes;
};

// Carries frames until a signal ends it; calls `ready` once every device exists. Throws Failure.
void carry(const Start& start, const std::function<void()>& ready);

}  // namespace wireproof::wire
