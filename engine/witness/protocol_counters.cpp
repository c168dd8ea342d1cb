#include "witness/protocol_counters.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/bounded_file.hpp"
#include "base/text_split.hpp"

namespace wireproof::witness {
namespace {

constexpr std::size_t kLongestFile = 1 << 18;
constexpr std::array<const char*, 2> kFiles = {"/proc/self/net/snmp", "/proc/self/net/netstat"};

constexpr std::array<std::string_view, 28> kTaken = {"Ip/InDiscards",
                                                     "Ip/OutDiscards",
                                                     "Ip/ReasmFails",
                                                     "Tcp/InSegs",
                                                     "Tcp/OutSegs",
                                                     "Tcp/RetransSegs",
                                                     "Tcp/InErrs",
                                                     "Tcp/OutRsts",
                                                     "Tcp/AttemptFails",
                                                     "Udp/InDatagrams",
                                                     "Udp/OutDatagrams",
                                                     "Udp/InErrors",
                                                     "Udp/RcvbufErrors",
                                                     "Udp/SndbufErrors",
                                                     "Udp/InCsumErrors",
                                                     "TcpExt/TCPLostRetransmit",
                                                     "TcpExt/TCPTimeouts",
                                                     "TcpExt/TCPFastRetrans",
                                                     "TcpExt/TCPSlowStartRetrans",
                                                     "TcpExt/TCPRcvQDrop",
                                                     "TcpExt/TCPBacklogDrop",
                                                     "TcpExt/TCPSpuriousRTOs",
                                                     "TcpExt/TCPSackRecovery",
                                                     "TcpExt/TCPSACKReorder",
                                                     "TcpExt/TCPDSACKRecv",
                                                     "TcpExt/TCPDSACKOfoRecv",
                                                     "TcpExt/TCPDSACKRecvSegs",
                                                     "IpExt/InECTPkts"};

bool is_taken(std::string_view name) {
  return std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
}

void take_pair(std::string_view heads, std::string_view values, NameTable& names,
               Snapshot& snapshot) {
  std::string protocol(take_word(heads));
  if (protocol.empty() || protocol.back() != ':' || protocol != take_word(values)) return;
  protocol.back() = '/';
  for (;;) {
    const std::string_view head = take_word(heads);
    const std::string_view value = take_word(values);
    if (head.empty() || value.empty()) return;
    const std::string name = protocol + std::string(head);
    if (!is_taken(name)) continue;
    if (const auto number = parse_unsigned(value)) snapshot.set(names.index("ip/" + name), number);
  }
}

}  // namespace

void ProtocolCounters::read(NameTable& names, Snapshot& snapshot) {
  for (const char* path : kFiles) {
    const FileText file = read_bounded(path, kLongestFile);
    if (file.status == ReadStatus::ok) parse_protocol_counters(file.text, names, snapshot);
  }
}

void parse_protocol_counters(std::string_view text, NameTable& names, Snapshot& snapshot) {
  while (const auto heads = take_line(text)) {
    if (const auto values = take_line(text)) take_pair(*heads, *values, names, snapshot);
  }
}

}  // namespace wireproof::witness
