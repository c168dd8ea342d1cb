// One machine as this process sees it (its own, or the tree that a root names): its identity, and
// its counters around each point and over the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "host/gather.hpp"
#include "pattern/group/shape.hpp"
#include "plan/plan.hpp"
#include "witness/frames.hpp"
#include "witness/reader.hpp"

namespace wireproof {

class Site {
 public:
  explicit Site(const std::string& root);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  const Tree& tree() const { return tree_; }
  host::Host& host() { return host_; }
  const host::Host& host() const { return host_; }

  /// An interface, an RDMA device or one of its ports, whose byte counters are always reported.
  void claim(const std::string& nic);
  /// Whether a counter here may be refreshed late: counters of real adapters may, counters of
  /// virtual interfaces belong to the kernel.
  bool may_lag() const;
  /// Ports of these drivers may show their last bytes late.
  void know_late(const std::vector<LateDriver>& drivers);
  /// Refresh delay of the slowest port that is up, if a delay is known for its driver.
  int settle_ms() const { return settle_ms_; }

  /// The readings around one point; `open` and `close` bound the quiet windows.
  void read_open();
  void read_before();
  void read_after();
  void read_close();
  /// The run begins with the reading of `read_after` and ends with that of `read_end`.
  void begin_run() {
    idle_ = before_;
    first_ = after_;
  }
  void read_end();
  void read_tail();

  /// Whether the byte counters of one port, in known units, rose by `payload` around the point, in
  /// each direction.
  bool explains(const Traffic& payload) const { return shows(payload, true); }
  /// The same for a port that is not known to be late, and is claimed if any port is.
  bool explains_at_once(const Traffic& payload) const { return shows(payload, false); }
  /// Whether a byte counter has risen by what may be a share of `payload_bytes` since the previous
  /// reading (at first that of `read_after`).
  bool still_rises(std::uint64_t payload_bytes);
  /// Whether a byte counter rose between the last point and the end of the run but not before the
  /// run: it is late, or other traffic continues.
  bool goes_on() const;

  /// `payload_bytes`: for a brief point, the bytes that this process moved. In that case only
  /// counters that may explain it are reported: changes of at least 1/64 of it (the coarsest byte
  /// counters count 8 bytes), and counters of errors, or of packets of RDMA in software, that
  /// changed at all. Byte counters of claimed ports, and those at their largest value, are always
  /// reported.
  witness::Delta point(std::optional<std::uint64_t> payload_bytes) const;
  /// Only counters that changed, of any kind.
  witness::Delta changes() const { return reader_.delta(before_, after_); }
  /// The byte counters of ports that the later reading could read, and the packet counters of RDMA
  /// in software, with their values: if no later reading lists such a counter, it did not change.
  std::vector<witness::Standing> standing() const;
  /// The whole run; it contains every byte counter that a point would report, changed or not.
  witness::Delta run(std::optional<std::uint64_t> payload_bytes) const;
  /// From the last point to the end of the run, and from there to `read_tail`; empty without it.
  std::vector<witness::Delta> tail() const;
  /// Byte counters over both quiet windows.
  witness::Quiet quiet() const;

 private:
  bool shows(const Traffic& payload, bool by_late_ports) const;
  bool is_claimed(std::string_view counter) const;
  bool is_always_told(std::string_view counter, std::uint64_t value) const;
  witness::Delta between(const witness::Snapshot& before, const witness::Snapshot& after,
                         std::optional<std::uint64_t> payload_bytes, bool all_bytes) const;

  Tree tree_;
  host::Host host_;
  witness::Reader reader_;
  witness::Snapshot open_;
  witness::Snapshot before_;
  witness::Snapshot after_;
  witness::Snapshot close_;
  witness::Snapshot idle_;
  witness::Snapshot first_;
  witness::Snapshot end_;
  witness::Snapshot tail_;
  witness::Snapshot looked_;
  std::vector<std::string> claimed_;  // prefixes of the claimed ports' counter names
  std::vector<std::string> late_;     // prefixes for late ports
  int settle_ms_ = 0;
};

}  // namespace wireproof
