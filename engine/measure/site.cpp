#include "measure/site.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace wireproof {
namespace {

constexpr std::uint64_t kBriefShare = 64;
constexpr std::uint64_t kCoarsestUnit = 8;  // bytes per count
// As in goes_on of ledger/traffic.py, which prove uses.
constexpr double kChatterPerNs = 1e-4;  // 100 kB/s: logins and neighbour discovery
constexpr double kLouder = 2;
constexpr std::uint64_t kLeastFabricUnit = 4;  // unit of port_xmit_data: words, or flits of 8 bytes

/// Counters of errors on a link, and of a link that went down: even a few of them may be the cause
/// of a problem.
bool tells_trouble(std::string_view name) {
  static constexpr std::string_view kWords[] = {"err",  "drop",    "discard",  "crc",     "retr",
                                                "Retr", "fifo",    "wait",     "timeout", "cnp",
                                                "ecn",  "carrier", "link_down"};
  const std::string_view leaf = name.substr(name.rfind('/') + 1);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return leaf.find(word) != std::string_view::npos;
  });
}

/// The denominator of a share: without it, it is unknown whether few or many of the segments were
/// retransmitted.
bool is_a_whole(std::string_view name) { return name == "ip/Tcp/OutSegs"; }

/// A driver's statistic that may be all bytes of a port, or those of a priority; the names of
/// statistics of queues and of packet sizes contain a number.
bool tells_port_bytes(std::string_view name) {
  if (!name.starts_with("ethtool/"))
    return witness::tells_bytes(name) || name.ends_with("_bytes_cnt");  // of erdma
  const std::string_view leaf = name.substr(name.rfind('/') + 1);
  const bool whole = leaf.find_first_of("0123456789") == std::string_view::npos;
  return (whole || witness::contains(leaf, "_prio_")) &&
         (witness::contains(leaf, "bytes") || witness::contains(leaf, "octets") ||
          witness::contains(leaf, "_oct_"));
}

/// RDMA in software (rxe) counts only its packets; its bytes are included in the interface's. If
/// these packet counters did not change, the interface's bytes were all the kernel's.
bool counts_software_rdma(std::string_view name) {
  return name.starts_with("ib/") &&
         (name.ends_with("/hw_counters/sent_pkts") || name.ends_with("/hw_counters/rcvd_pkts"));
}

/// Whether the counter shows other traffic.
bool tells_others(std::string_view name) {
  return tells_port_bytes(name) || counts_software_rdma(name);
}

/// The value at which a counter of 32 or 64 bits stops if it does not wrap.
bool stands_at_its_end(std::uint64_t value) { return value == UINT32_MAX || value == UINT64_MAX; }

std::uint64_t distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

bool begins_with_any(std::string_view name, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return name.starts_with(beginning); });
}

/// Refresh delay of a port with this driver; 0 if none is known.
int lateness_ms(const std::string& driver, const std::vector<LateDriver>& drivers) {
  int longest = 0;
  for (const LateDriver& one : drivers) {
    if (::fnmatch(one.driver.c_str(), driver.c_str(), 0) == 0) longest = std::max(longest, one.ms);
  }
  return longest;
}

std::int64_t difference(std::uint64_t before, std::uint64_t after) {
  return static_cast<std::int64_t>(after - before);  // modulo 2^64 and back
}

}  // namespace

Site::Site(const std::string& root)
    : tree_(root), host_(host::gather(tree_)), reader_(root, /*protocols=*/true) {}

void Site::claim(const std::string& name) {
  claimed_.push_back("net/" + name + "/");
  claimed_.push_back("ethtool/" + name + "/");
  claimed_.push_back("ib/" + name + "/");
  for (const host::Nic& nic : host_.nics) {
    if (!nic.rdma) continue;
    const std::string& device = nic.rdma->device;
    const std::string port = std::to_string(nic.rdma->port);
    if (name != nic.name && name != device && name != device + ":" + port) continue;
    claimed_.push_back("ib/" + device + "/" + port + "/");
    claimed_.push_back("ib/" + device + "/hw_counters/");
    claimed_.push_back("cxi/" + device + "/");
    claimed_.push_back("net/" + nic.name + "/");
    claimed_.push_back("ethtool/" + nic.name + "/");
  }
}

bool Site::may_lag() const {
  return std::any_of(host_.nics.begin(), host_.nics.end(), [](const host::Nic& nic) {
    return nic.carrier != false && (!nic.pci.empty() || nic.rdma.has_value());
  });
}

void Site::know_late(const std::vector<LateDriver>& drivers) {
  for (const host::Nic& nic : host_.nics) {
    int ms = lateness_ms(nic.driver, drivers);
    if (nic.rdma) ms = std::max(ms, lateness_ms(nic.rdma->driver, drivers));
    if (ms == 0 || nic.carrier == false) continue;
    settle_ms_ = std::max(settle_ms_, ms);
    late_.push_back("net/" + nic.name + "/");
    if (nic.rdma) late_.push_back("ib/" + nic.rdma->device + "/");
  }
}

void Site::read_open() { open_ = reader_.read(); }
void Site::read_before() { before_ = reader_.read(); }
void Site::read_after() {
  after_ = reader_.read();
  looked_ = {};
}
void Site::read_close() { close_ = reader_.read(); }
void Site::read_end() { end_ = reader_.read(); }
void Site::read_tail() { tail_ = reader_.read(); }

/// Among ports that are not late, only claimed ones count, because only they decide alone. Bytes in
/// the other direction are acknowledgements, or late.
bool Site::shows(const Traffic& payload, bool by_late_ports) const {
  std::unordered_map<std::string_view, Traffic> moved;  // by port
  for (const witness::Change& change : changes().changed) {
    const bool other = !claimed_.empty() && !is_claimed(change.name);
    if (!by_late_ports && (other || begins_with_any(change.name, late_))) continue;
    const std::string_view port = change.name.substr(0, change.name.rfind('/'));
    const std::string_view leaf = change.name.substr(port.size());
    const std::uint64_t rise = distance(change.before, change.after);
    const bool net = port.starts_with("net/");
    if (net && leaf == "/tx_bytes") moved[port].sent_bytes += rise;
    if (net && leaf == "/rx_bytes") moved[port].received_bytes += rise;
    if (leaf == "/port_xmit_data") moved[port].sent_bytes += rise * kLeastFabricUnit;
    if (leaf == "/port_rcv_data") moved[port].received_bytes += rise * kLeastFabricUnit;
  }
  // one process may drive both ends, so that the ways are reversed at one of them
  const auto [least, most] = std::minmax(payload.sent_bytes, payload.received_bytes);
  return std::any_of(moved.begin(), moved.end(), [&, least = least, most = most](const auto& one) {
    const auto [quieter, busier] = std::minmax(one.second.sent_bytes, one.second.received_bytes);
    return quieter >= least && busier >= most;
  });
}

bool Site::still_rises(std::uint64_t payload_bytes) {
  const witness::Snapshot now = reader_.read(witness::Depth::bytes);
  const witness::Snapshot& then = looked_.finished_ns == 0 ? after_ : looked_;
  const std::uint64_t least = payload_bytes / kBriefShare / kCoarsestUnit;
  bool rises = false;
  for (std::size_t i = 0; i < reader_.counter_count(); ++i) {
    if (!witness::tells_bytes(reader_.counter_name(i))) continue;
    const auto first = then.at(i);
    const auto second = now.at(i);
    rises = rises || (first && second && distance(*first, *second) > least);
  }
  looked_ = now;
  return rises;
}

bool Site::goes_on() const {
  const witness::Delta idle = reader_.delta(idle_, first_);
  std::unordered_map<std::string_view, double> before;  // counts per ns
  for (const witness::Change& change : idle.changed)
    before[change.name] =
        static_cast<double>(distance(change.before, change.after)) / idle.interval_ns;
  const witness::Delta wait = reader_.delta(after_, end_);
  return std::any_of(wait.changed.begin(), wait.changed.end(), [&](const witness::Change& change) {
    const auto rise = static_cast<double>(distance(change.before, change.after));
    return tells_others(change.name) &&
           rise > (kLouder * before[change.name] + kChatterPerNs) * wait.interval_ns;
  });
}

bool Site::is_claimed(std::string_view counter) const { return begins_with_any(counter, claimed_); }

bool Site::is_always_told(std::string_view counter, std::uint64_t value) const {
  return tells_port_bytes(counter) && (stands_at_its_end(value) || is_claimed(counter));
}

witness::Delta Site::between(const witness::Snapshot& before, const witness::Snapshot& after,
                             std::optional<std::uint64_t> payload_bytes, bool all_bytes) const {
  witness::Delta told = reader_.header(before, after);
  const std::uint64_t least = payload_bytes.value_or(0) / kBriefShare;
  for (std::size_t i = 0; i < reader_.counter_count(); ++i) {
    const std::string_view name = reader_.counter_name(i);
    const auto first = before.at(i);
    const auto second = after.at(i);
    if (!first || !second) {
      if (!payload_bytes || witness::tells_bytes(name)) told.unreadable.push_back(name);
      continue;
    }
    const std::uint64_t moved = distance(*first, *second);
    const bool explains = moved > 0 && (moved >= least || tells_trouble(name) || is_a_whole(name) ||
                                        counts_software_rdma(name));
    if (explains || is_always_told(name, *second) || (all_bytes && tells_port_bytes(name)))
      told.changed.push_back({name, *first, *second});
  }
  return told;
}

witness::Delta Site::point(std::optional<std::uint64_t> payload_bytes) const {
  return between(before_, after_, payload_bytes, false);
}

witness::Delta Site::run(std::optional<std::uint64_t> payload_bytes) const {
  return between(first_, end_, payload_bytes, !payload_bytes);
}

std::vector<witness::Delta> Site::tail() const {
  if (tail_.finished_ns == 0) return {};
  return {reader_.delta(after_, end_), reader_.delta(end_, tail_)};
}

std::vector<witness::Standing> Site::standing() const {
  std::vector<witness::Standing> found;
  for (std::size_t i = 0; i < reader_.counter_count(); ++i) {
    const std::string_view name = reader_.counter_name(i);
    const auto value = after_.at(i);
    if (value && tells_others(name)) found.push_back({name, *value});
  }
  return found;
}

witness::Quiet Site::quiet() const {
  witness::Quiet quiet;
  quiet.interval_ns = static_cast<double>(before_.middle_ns() - open_.middle_ns()) +
                      static_cast<double>(close_.middle_ns() - after_.middle_ns());
  for (std::size_t i = 0; i < reader_.counter_count(); ++i) {
    const std::string_view name = reader_.counter_name(i);
    if (!tells_others(name)) continue;
    std::int64_t rise = 0;
    for (const auto& [from, to] : {std::pair{&open_, &before_}, std::pair{&after_, &close_}}) {
      const auto first = from->at(i);
      const auto second = to->at(i);
      if (first && second) rise += difference(*first, *second);
    }
    if (rise != 0) quiet.changed.emplace_back(name, rise);
  }
  return quiet;
}

}  // namespace wireproof
