// TAP devices: a node's NIC whose other end is this process.
#pragma once

#include <sys/types.h>

#include <string>

#include "node/system.hpp"

namespace wireproof::wire {

// Makes the device in the network namespace of the process `pid` (0: in our own); it goes when the
// descriptor is closed. The kernel cuts segments into frames before they get here. Throws Failure.
Fd open_tap(pid_t pid, const std::string& device);

}  // namespace wireproof::wire
