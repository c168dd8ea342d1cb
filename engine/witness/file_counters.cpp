#include "witness/file_counters.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/clock.hpp"
#include "base/text_split.hpp"

namespace wireproof::witness {
namespace {

constexpr const char* kInfiniBand = "sys/class/infiniband";
constexpr const char* kCxi = "sys/class/cxi";
constexpr const char* kNetwork = "sys/class/net";
constexpr const char* kEthtool = "ethtool";

// A tree may be hostile: limits its files to the counters of a large node, and the length of texts.
constexpr std::size_t kMostFiles = 1 << 18;
constexpr std::size_t kLongestStatistics = 4 << 20;
constexpr std::size_t kMostStatistics = 1 << 16;

// The MPI and the fabric's library also need descriptors (RDMA and TCP transports open hundreds).
std::size_t descriptor_budget() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<std::size_t>(512, limit.rlim_cur / 4);
}

std::optional<std::uint64_t> pread_number(int descriptor, bool stamped, int& error) {
  char text[64];
  ssize_t got = 0;
  do got = ::pread(descriptor, text, sizeof text, 0);
  while (got < 0 && errno == EINTR);
  error = got < 0 ? errno : 0;
  if (got <= 0 || got == static_cast<ssize_t>(sizeof text)) return std::nullopt;
  const std::string_view value(text, static_cast<std::size_t>(got));
  return parse_unsigned(stamped ? value.substr(0, value.find('@')) : value);
}

/// Settings and summaries among the counter files.
bool is_counter(std::string_view file) {
  return file != "lifespan" &&  // how long hw_counters are cached, in ms
         !file.starts_with("ALL") && !file.starts_with("reset");  // of cxi
}

}  // namespace

FileCounters::FileCounters(const Tree& tree, FileScope scope, bool keep_open)
    : tree_(tree), scope_(scope), keep_open_(keep_open), open_budget_(descriptor_budget()) {}

std::vector<std::string> FileCounters::devices() const {
  if (scope_ == FileScope::none) return {};
  std::vector<std::string> all = tree_.list(kInfiniBand);
  for (const std::string& name : tree_.list(kCxi)) all.push_back("cxi:" + name);
  if (scope_ == FileScope::all) {
    for (const std::string& name : tree_.list(kNetwork)) all.push_back("net:" + name);
  }
  return all;
}

void FileCounters::add_folder(const std::string& folder, const std::string& prefix,
                              NameTable& names) {
  const bool stamped = prefix.starts_with("cxi/");
  for (const std::string& file : tree_.list(folder)) {
    if (entries_.size() >= kMostFiles) return;
    if (!is_counter(file)) continue;
    const std::string name = prefix + file;
    entries_.push_back({folder + "/" + file, names.index(name), tells_bytes(name), stamped});
  }
}

void FileCounters::scan_infiniband(const std::string& device, NameTable& names) {
  const std::string base = std::string(kInfiniBand) + "/" + device;
  add_folder(base + "/hw_counters", "ib/" + device + "/hw_counters/", names);
  for (const std::string& port : tree_.list(base + "/ports")) {
    const std::string prefix = "ib/" + device + "/" + port;
    add_folder(base + "/ports/" + port + "/counters", prefix + "/counters/", names);
    add_folder(base + "/ports/" + port + "/hw_counters", prefix + "/hw_counters/", names);
  }
}

void FileCounters::scan(NameTable& names, std::int64_t deadline_ns) {
  entries_.clear();
  open_now_ = 0;
  for (const std::string& device : devices_) {
    if (monotonic_ns() > deadline_ns) return;
    const std::string name = device.substr(device.find(':') + 1);
    if (device.starts_with("cxi:")) {
      add_folder(std::string(kCxi) + "/" + name + "/device/telemetry", "cxi/" + name + "/", names);
    } else if (device.starts_with("net:")) {
      add_folder(std::string(kNetwork) + "/" + name + "/statistics", "net/" + name + "/", names);
    } else {
      scan_infiniband(device, names);
    }
  }
}

void FileCounters::read(NameTable& names, Snapshot& snapshot, Depth depth,
                        std::int64_t deadline_ns) {
  if (scope_ == FileScope::none) return;
  std::vector<std::string> now = devices();
  const bool changed = now != devices_;
  devices_ = std::move(now);
  if (!keep_open_ || changed) scan(names, deadline_ns);
  if (!read_all(snapshot, depth, deadline_ns)) {
    // A device was replaced by another with the same name: its old files always return ENODEV.
    scan(names, deadline_ns);
    read_all(snapshot, depth, deadline_ns);
  }
  if (scope_ == FileScope::all && depth == Depth::everything)
    read_ethtool_files(tree_, names, snapshot, deadline_ns);
}

bool FileCounters::read_all(Snapshot& snapshot, Depth depth, std::int64_t deadline_ns) {
  bool gone = false;
  for (Entry& entry : entries_) {
    if (depth == Depth::bytes && !entry.bytes) continue;
    const bool late = monotonic_ns() > deadline_ns;
    snapshot.set(entry.index, late ? std::nullopt : read_entry(entry, gone));
  }
  return !gone;
}

std::optional<std::uint64_t> FileCounters::read_entry(Entry& entry, bool& gone) {
  Descriptor opened;
  if (!entry.file) opened = tree_.open(entry.path, O_RDONLY);
  const int descriptor = entry.file ? entry.file.number() : opened.number();
  if (descriptor < 0) return std::nullopt;
  int error = 0;
  const auto value = pread_number(descriptor, entry.stamped, error);
  gone = gone || error == ENODEV;
  if (opened && keep_open_ && open_now_ < open_budget_) {
    entry.file = std::move(opened);
    ++open_now_;
  }
  return value;
}

void read_ethtool_files(const Tree& tree, NameTable& names, Snapshot& snapshot,
                        std::int64_t deadline_ns) {
  for (const std::string& interface : tree.list(kEthtool)) {
    if (monotonic_ns() > deadline_ns) return;
    const FileText file = tree.read(std::string(kEthtool) + "/" + interface, kLongestStatistics);
    if (file.status == ReadStatus::ok) parse_ethtool_text(file.text, interface, names, snapshot);
  }
}

void parse_ethtool_text(std::string_view text, const std::string& interface, NameTable& names,
                        Snapshot& snapshot) {
  std::size_t taken = 0;
  while (const auto line = take_line(text)) {
    const std::size_t colon = line->rfind(':');  // names may contain a colon: "rx[0]: packets"
    if (colon == std::string_view::npos || taken == kMostStatistics) continue;
    const std::size_t first = std::min(line->find_first_not_of(kBlanks), colon);
    const auto value = parse_unsigned(line->substr(colon + 1));
    if (!value || first == colon) continue;  // the heading "NIC statistics:"
    const std::string name(line->substr(first, colon - first));
    snapshot.set(names.index("ethtool/" + interface + "/" + name), value);
    ++taken;
  }
}

}  // namespace wireproof::witness
