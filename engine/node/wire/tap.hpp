// TAP devices: the NIC of a node, whose other end is this process.
#pragma once

#include <sys/types.h>

#include <string>

#include "node/system.hpp"

namespace wireproof::wire {

// Creates the device in the network namespace of the process `pid` (0: the caller's); it disappears
// when the descriptor is closed. The kernel splits segments into frames before they arrive here.
// Throws Failure.
Fd open_tap(pid_t pid, const std::string& device);

}  // namespace wireproof::wire
