#include "witness/reader.hpp"

#include "base/clock.hpp"
namespace wireproof::witness {
namespace {

// Files that answer slowly must not delay the measurement.
constexpr std::int64_t kPatienceNs = 5'000'000'000;
constexpr std::int64_t kShortPatienceNs = 500'000'000;  // byte counters, read often

// An interface may appear between the two listings that are compared, so check twice before
// treating /sys as foreign.
bool shows_another_namespace(const Tree& tree) {
  NetworkDeviceTable table;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto links = table.read();
    if (links && sysfs_shows(tree, *links)) return false;
  }
  return true;
}

FileScope file_scope(bool live, bool foreign) {
  if (!live) return FileScope::all;
  return foreign ? FileScope::none : FileScope::fabric;
}

}  // namespace

Reader::Reader(const std::string& root, bool protocols)
    : tree_(root),
      foreign_sysfs_(tree_.live() && shows_another_namespace(tree_)),
      files_(tree_, file_scope(tree_.live(), foreign_sysfs_), /*keep_open=*/tree_.live()) {
  if (!tree_.live()) return;
  links_.emplace();
  ethtool_.emplace(kernel_ethtool());
  if (protocols) protocols_.emplace();
}

Snapshot Reader::read(Depth depth) {
  Snapshot snapshot;
  snapshot.values.reserve(names_.size());
  snapshot.started_ns = monotonic_ns();
  if (links_ && ethtool_) {
    const auto interfaces = links_->read(names_, snapshot);
    source_ = links_->source();
    if (depth == Depth::everything) ethtool_->read(interfaces, names_, snapshot);
  }
  if (protocols_ && depth == Depth::everything) protocols_->read(names_, snapshot);
  const std::int64_t patience_ns = depth == Depth::everything ? kPatienceNs : kShortPatienceNs;
  files_.read(names_, snapshot, depth, snapshot.started_ns + patience_ns);
  snapshot.finished_ns = monotonic_ns();
  return snapshot;
}

Delta Reader::header(const Snapshot& before, const Snapshot& after) const {
  Delta result;
  result.interval_ns = static_cast<double>(after.middle_ns() - before.middle_ns());
  result.source = source_;
  result.foreign_sysfs = foreign_sysfs_;
  return result;
}

Delta Reader::delta(const Snapshot& before, const Snapshot& after) const {
  Delta result = header(before, after);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto first = before.at(i);
    const auto second = after.at(i);
    if (!first || !second) {
      result.unreadable.push_back(names_.name(i));
    } else if (*first != *second) {
      result.changed.push_back({names_.name(i), *first, *second});
    }
  }
  return result;
}

int reader_of(const std::vector<HostIdentity>& identities, int rank) {
  const HostIdentity& mine = identities.at(static_cast<std::size_t>(rank));
  if (!mine.known()) return rank;
  for (int other = 0; other < rank; ++other) {
    const HostIdentity& theirs = identities[static_cast<std::size_t>(other)];
    if (theirs.known() && theirs.boot_id == mine.boot_id && theirs.netns == mine.netns)
      return other;
  }
  return rank;
}

}  // namespace wireproof::witness
