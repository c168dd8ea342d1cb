#include "witness/file_counters.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/bounded_file.hpp"

namespace wireproof::witness {
namespace {

constexpr const char* kInfiniBand = "sys/class/infiniband/";
constexpr const char* kNetwork = "sys/class/net/";

// The MPI and the fabric's library need descriptors too (RDMA and TCP transports open hundreds).
std::size_t descriptor_budget() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<std::size_t>(512, limit.rlim_cur / 4);
}

std::optional<std::uint64_t> pread_number(int descriptor, int& error) {
  char text[64];
  ssize_t got = 0;
  do got = ::pread(descriptor, text, sizeof text, 0);
  while (got < 0 && errno == EINTR);
  error = got < 0 ? errno : 0;
  if (got <= 0 || got == static_cast<ssize_t>(sizeof text)) return std::nullopt;
  return parse_unsigned(std::string_view(text, static_cast<std::size_t>(got)));
}

}  // namespace

FileCounters::FileCounters(std::string root, FileScope scope, bool keep_open)
    : root_(std::move(root)),
      scope_(scope),
      keep_open_(keep_open),
      open_budget_(descriptor_budget()) {}

FileCounters::~FileCounters() { close_all(); }

void FileCounters::close_all() {
  for (const Entry& entry : entries_) {
    if (entry.descriptor >= 0) ::close(entry.descriptor);
  }
  entries_.clear();
  open_now_ = 0;
}

std::vector<std::string> FileCounters::devices() const {
  if (scope_ == FileScope::none) return {};
  std::vector<std::string> all = list_directory(under_root(root_, kInfiniBand));
  if (scope_ == FileScope::infiniband_and_network) {
    for (std::string& name : list_directory(under_root(root_, kNetwork)))
      all.push_back("net:" + name);
  }
  return all;
}

void FileCounters::add_folder(const std::string& folder, const std::string& prefix,
                              NameTable& names) {
  for (const std::string& file : list_directory(folder)) {
    if (file == "lifespan") continue;  // how long hw_counters are cached, in ms: a setting
    const std::string name = prefix + file;
    entries_.push_back({folder + "/" + file, names.index(name), -1, tells_bytes(name)});
  }
}

void FileCounters::scan(NameTable& names) {
  close_all();
  const std::string infiniband = under_root(root_, kInfiniBand);
  for (const std::string& device : list_directory(infiniband)) {
    const std::string base = infiniband + device;
    add_folder(base + "/hw_counters", "ib/" + device + "/hw_counters/", names);
    for (const std::string& port : list_directory(base + "/ports")) {
      const std::string prefix = "ib/" + device + "/" + port;
      add_folder(base + "/ports/" + port + "/counters", prefix + "/counters/", names);
      add_folder(base + "/ports/" + port + "/hw_counters", prefix + "/hw_counters/", names);
    }
  }
  if (scope_ != FileScope::infiniband_and_network) return;
  const std::string network = under_root(root_, kNetwork);
  for (const std::string& interface : list_directory(network)) {
    add_folder(network + interface + "/statistics", "net/" + interface + "/", names);
  }
}

void FileCounters::read(NameTable& names, Snapshot& snapshot, Depth depth) {
  if (scope_ == FileScope::none) return;
  std::vector<std::string> now = devices();
  if (!keep_open_ || now != devices_) scan(names);
  devices_ = std::move(now);
  if (read_all(snapshot, depth)) return;
  scan(names);  // a device was replaced by one of the same name: its old files answer ENODEV for
                // ever
  read_all(snapshot, depth);
}

bool FileCounters::read_all(Snapshot& snapshot, Depth depth) {
  bool gone = false;
  for (Entry& entry : entries_) {
    if (depth == Depth::everything || entry.bytes)
      snapshot.set(entry.index, read_entry(entry, gone));
  }
  return !gone;
}

std::optional<std::uint64_t> FileCounters::read_entry(Entry& entry, bool& gone) {
  int descriptor = entry.descriptor;
  if (descriptor < 0) descriptor = ::open(entry.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  int error = 0;
  const auto value = pread_number(descriptor, error);
  gone = gone || error == ENODEV;
  if (entry.descriptor < 0 && keep_open_ && open_now_ < open_budget_) {
    entry.descriptor = descriptor;
    ++open_now_;
  } else if (entry.descriptor < 0) {
    ::close(descriptor);
  }
  return value;
}

}  // namespace wireproof::witness
