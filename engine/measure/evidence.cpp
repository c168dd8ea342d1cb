#include "measure/evidence.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/bounded_file.hpp"
#include "base/json_writer.hpp"
#include "base/pieces.hpp"
#include "facts/collect.hpp"
#include "host/gather.hpp"
#include "host/pin.hpp"
#include "witness/frames.hpp"
#include "witness/reader.hpp"

namespace wireproof {

namespace {

constexpr std::uint64_t kBriefShare = 64;

/// Counters of what went wrong on a link: a few of them explain what many bytes cannot.
bool tells_trouble(std::string_view name) {
  static constexpr std::string_view kWords[] = {"err",  "drop", "discard", "crc", "retr",
                                                "fifo", "wait", "timeout", "cnp", "ecn"};
  const std::string_view leaf = name.substr(name.rfind('/') + 1);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return leaf.find(word) != std::string_view::npos;
  });
}

std::uint64_t distance(const witness::Change& change) {
  return change.after > change.before ? change.after - change.before : change.before - change.after;
}

/// Numbers alike keys from 0 in order of appearance, and remembers who came first with each.
class Groups {
 public:
  /// The first rank with `key`; `rank` itself when the key is unknown ("").
  int first(const std::string& key, int rank) {
    return key.empty() ? rank : firsts_.try_emplace(key, rank).first->second;
  }

 private:
  std::unordered_map<std::string, int> firsts_;
};

}  // namespace

struct Evidence::State {
  explicit State(const std::string& root) : tree(root), host(host::gather(tree)), reader(root) {}

  bool claims(std::string_view counter) const {
    return std::any_of(claimed.begin(), claimed.end(),
                       [&](const std::string& prefix) { return counter.starts_with(prefix); });
  }
  witness::Delta brief_delta(std::uint64_t payload_bytes) const;

  Tree tree;
  host::Host host;
  witness::Reader reader;
  witness::Snapshot before;
  witness::Snapshot after;
  witness::Delta delta;
  std::vector<int> readers;          // by rank: the lowest rank of its network namespace
  std::vector<int> ordinals;         // by rank: how many ranks before it run on its host
  std::vector<int> memories;         // by rank: the lowest rank that shares its memory, -1 unknown
  std::vector<std::string> claimed;  // beginnings of the claimed NICs' counter names
};

Evidence::Evidence(const std::string& root) : state_(std::make_unique<State>(root)) {}
Evidence::~Evidence() = default;

std::string Evidence::identity_line() const {
  const host::Host& h = state_->host;
  return std::to_string(h.netns) + ' ' + std::to_string(h.shm_device) + ' ' + h.boot_id;
}

void Evidence::learn_identities(const std::vector<std::string>& lines) {
  Groups namespaces;
  std::unordered_map<std::string, int> hosts;
  Groups memories;
  for (const std::string& text : lines) {
    std::string_view left = text;
    const std::uint64_t netns = parse_unsigned(take_word(left)).value_or(0);
    const std::uint64_t shm_device = parse_unsigned(take_word(left)).value_or(0);
    const std::string boot(take_word(left));
    const int rank = static_cast<int>(state_->readers.size());
    const auto key = [&](std::uint64_t number) {
      return boot.empty() || number == 0 ? "" : boot + ' ' + std::to_string(number);
    };
    // Who does not know its namespace reads itself: reading twice costs time, not reading would
    // cost the proof.
    state_->readers.push_back(namespaces.first(key(netns), rank));
    state_->ordinals.push_back(boot.empty() ? 0 : hosts[boot]++);
    const std::string memory = key(shm_device);
    state_->memories.push_back(memory.empty() ? -1 : memories.first(memory, rank));
  }
}

void Evidence::learn_claims(const std::vector<RankPlace>& places, const std::vector<int>& own) {
  std::unordered_set<int> readers;
  for (const int rank : own) readers.insert(reader_of(rank));
  std::set<std::string> nics;
  for (const RankPlace& place : places) {
    const auto rank = static_cast<std::size_t>(place.index);
    if (place.nic.empty() || rank >= state_->readers.size()) continue;
    if (readers.contains(state_->readers[rank])) nics.insert(place.nic);
  }
  for (const std::string& name : nics) {
    state_->claimed.push_back("net/" + name + "/");
    state_->claimed.push_back("ib/" + name + "/");
    for (const host::Nic& nic : state_->host.nics) {
      if (nic.name != name || !nic.rdma) continue;
      state_->claimed.push_back("ib/" + nic.rdma->device + "/" + std::to_string(nic.rdma->port) +
                                "/");
    }
  }
}

void Evidence::pin_near(const std::string& nic, int rank) {
  host::Host& host = state_->host;
  const host::Pin pin = host::choose_pin(state_->tree, nic, host::allowed_cpus(),
                                         state_->ordinals.at(static_cast<std::size_t>(rank)));
  host.nic_numa_node = pin.numa_node;
  if (!pin.core || !host::bind_to(*pin.core)) return;
  host.pinned = pin.core;
  host.core = pin.core;
}

int Evidence::reader_of(int rank) const {
  return state_->readers.at(static_cast<std::size_t>(rank));
}

bool Evidence::shares_memory(int rank, int other) const {
  const int one = state_->memories.at(static_cast<std::size_t>(rank));
  return one >= 0 && one == state_->memories.at(static_cast<std::size_t>(other));
}

std::string Evidence::host_frame(int rank, const std::string& claimed,
                                 const LibraryFacts& library) const {
  JsonWriter json;
  json.begin_object().field("frame", "host").field("rank", rank).field("host", claimed);
  host::write_fields(json, state_->host);
  json.field("library", library.version)
      .field("library_path", library.path)
      .field("mpi_standard", library.standard)
      .field("shared_ranks", library.shared_ranks);
  return json.end_object().take();
}

std::string Evidence::fact_frames(int rank, const std::vector<FactRequest>& requests) const {
  std::string frames;
  if (reader_of(rank) != rank) return frames;
  for (const FactRequest& request : requests) {
    for (const facts::Fact& fact : facts::collect(request)) {
      frames += facts::frame(rank, fact) + '\n';
    }
  }
  return frames;
}

void Evidence::read_before() { state_->before = state_->reader.read(); }
void Evidence::read_after() {
  state_->after = state_->reader.read();
  state_->delta = state_->reader.delta(state_->before, state_->after);
}

std::string Evidence::witness_json(int rank) const {
  JsonWriter json;
  const int reader = reader_of(rank);
  if (reader == rank) {
    witness::write_point(json, rank, state_->delta);
  } else {
    witness::write_shared(json, rank, reader, state_->delta.interval_ns);
  }
  return json.take();
}

witness::Delta Evidence::State::brief_delta(std::uint64_t payload_bytes) const {
  witness::Delta brief = delta;
  brief.changed.clear();
  brief.unreadable.clear();
  for (std::size_t i = 0; i < reader.counter_count(); ++i) {
    const std::string_view name = reader.counter_name(i);
    const auto first = before.at(i);
    const auto second = after.at(i);
    const bool always = witness::tells_bytes(name) && claims(name);
    if (!first || !second) {
      if (witness::tells_bytes(name)) brief.unreadable.push_back(name);
      continue;
    }
    const witness::Change change{name, *first, *second};
    const std::uint64_t moved = distance(change);
    if (!always && moved == 0) continue;
    if (always || moved >= payload_bytes / kBriefShare || tells_trouble(name)) {
      brief.changed.push_back(change);
    }
  }
  return brief;
}

std::string Evidence::brief_witness_json(int rank, std::uint64_t payload_bytes) const {
  if (reader_of(rank) != rank) return witness_json(rank);
  JsonWriter json;
  witness::write_point(json, rank, state_->brief_delta(payload_bytes));
  return json.take();
}

std::string Evidence::idle_frame(int rank) const {
  JsonWriter json;
  const int reader = reader_of(rank);
  json.begin_object().field("frame", "idle");
  if (reader == rank) {
    witness::write_idle_fields(json, rank, state_->delta);
  } else {
    witness::write_idle_shared_fields(json, rank, reader, state_->delta.interval_ns);
  }
  return json.end_object().take();
}

}  // namespace wireproof
