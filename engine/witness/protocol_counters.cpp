#include "witness/protocol_counters.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include "base/bounded_file.hpp"

namespace wireproof::witness {
namespace {

constexpr std::size_t kLongestFile = 1 << 18;
constexpr std::array<const char*, 2> kFiles = {"/proc/self/net/snmp", "/proc/self/net/netstat"};

constexpr std::array<std::string_view, 24> kTaken = {"Ip/InDiscards",
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
                                                     "IpExt/InECTPkts"};

bool is_taken(std::string_view name) {
  return std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
}

void take_pair(const std::string& heads, const std::string& values, NameTable& names,
               Snapshot& snapshot) {
  std::istringstream head_words(heads);
  std::istringstream value_words(values);
  std::string protocol;
  std::string same;
  if (!(head_words >> protocol) || !(value_words >> same) || protocol != same) return;
  if (protocol.empty() || protocol.back() != ':') return;
  protocol.back() = '/';
  std::string head;
  std::string value;
  while (head_words >> head && value_words >> value) {
    const std::string name = protocol + head;
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
  std::istringstream lines{std::string(text)};
  std::string heads;
  std::string values;
  while (std::getline(lines, heads) && std::getline(lines, values))
    take_pair(heads, values, names, snapshot);
}

}  // namespace wireproof::witness
