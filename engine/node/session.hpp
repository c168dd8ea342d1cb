// One command in one node, from the request to its end: the supervisor's side of `enter`.
#pragma once

#include <map>
#include <string>

#include "request.hpp"

namespace wireproof {

// Names of the live nodes and their pids as the supervisor sees them; the switch is the supervisor
// itself (pid 0).
using NodePids = std::map<std::string, pid_t>;

// Serves one connection in a separate process; never returns. The command dies with the connection.
[[noreturn]] void serve_session(Fd peer, const NodePids& nodes, const std::string& hosts_file);

}  // namespace wireproof
