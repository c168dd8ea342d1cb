// ip/<Protocol>/<name>: counters of the kernel's TCP, UDP and IP in this network namespace.
#pragma once

#include <string_view>

#include "witness/snapshot.hpp"

namespace wireproof::witness {

class ProtocolCounters {
 public:
  // From /proc/self/net/snmp and netstat; a file that cannot be read adds nothing.
  void read(NameTable& names, Snapshot& snapshot);
};

// Pairs of lines, "Tcp: Name Name" and "Tcp: 1 2". Only counters of traffic and of errors are used:
// netstat alone has over a hundred names. Negative values (Tcp's MaxConn) are settings and left
// out.
void parse_protocol_counters(std::string_view text, NameTable& names, Snapshot& snapshot);

}  // namespace wireproof::witness
