#include "measure/evidence.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/json_writer.hpp"
#include "base/text_split.hpp"
#include "facts/collect.hpp"
#include "host/pin.hpp"
#include "witness/frames.hpp"

namespace wireproof {

namespace {

/// Numbers equal keys from 0 in order of appearance, and remembers the first rank with each key.
class Groups {
 public:
  /// The first rank with `key`; `rank` itself if the key is unknown ("").
  int first(const std::string& key, int rank) {
    return key.empty() ? rank : firsts_.try_emplace(key, rank).first->second;
  }

 private:
  std::unordered_map<std::string, int> firsts_;
};

std::string word_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string key_of(std::string_view boot, std::uint64_t number) {
  return boot == "-" || number == 0 ? "" : std::string(boot) + ' ' + std::to_string(number);
}

}  // namespace

Evidence::Evidence(const Plan& plan, const std::vector<int>& own) {
  std::unordered_map<int, const std::string*> hosts;
  for (const RankPlace& place : plan.ranks) hosts[place.index] = &place.host;
  std::unordered_map<std::string, std::size_t> known;
  for (const int rank : own) {
    const auto host = hosts.find(rank);
    const std::string root =
        expand_root(plan.witness.root, host == hosts.end() ? "" : *host->second, rank);
    const auto [place, fresh] = known.try_emplace(root, sites_.size());
    if (fresh) {
      sites_.push_back(std::make_unique<Site>(root));
      sites_.back()->know_late(plan.witness.late);
    }
    if (place->second > 0) places_[rank] = place->second;
  }
}

Site& Evidence::site_of(int rank) const {
  const auto place = places_.find(rank);
  return *sites_.at(place == places_.end() ? 0 : place->second);
}

/// Namespace, memory, the kernel of the tree, and the kernel that runs this process: memory belongs
/// to the latter.
std::string Evidence::identity_line(int rank) const {
  const host::Host& h = site_of(rank).host();
  return std::to_string(h.netns) + ' ' + std::to_string(h.shm_device) + ' ' +
         word_or_dash(h.boot_id) + ' ' + word_or_dash(h.kernel_boot_id);
}

void Evidence::learn_identities(const std::vector<std::string>& lines) {
  Groups namespaces;
  std::unordered_map<std::string, int> hosts;
  Groups memories;
  for (const std::string& text : lines) {
    std::string_view left = text;
    const std::uint64_t netns = parse_unsigned(take_word(left)).value_or(0);
    const std::uint64_t shm_device = parse_unsigned(take_word(left)).value_or(0);
    const std::string_view boot = take_word(left);
    const std::string_view kernel = take_word(left);
    const int rank = static_cast<int>(readers_.size());
    // A rank that does not know its namespace reads its own counters: reading twice costs time, not
    // reading would cost the proof.
    readers_.push_back(namespaces.first(key_of(boot, netns), rank));
    ordinals_.push_back(boot == "-" ? 0 : hosts[std::string(boot)]++);
    const std::string memory = key_of(kernel, shm_device);
    memories_.push_back(memory.empty() ? -1 : memories.first(memory, rank));
  }
}

void Evidence::learn_claims(const std::vector<RankPlace>& places, const std::vector<int>& own) {
  std::unordered_map<int, Site*> readers;  // by reader
  for (const int rank : own) readers.try_emplace(reader_of(rank), &site_of(rank));
  std::set<std::pair<Site*, std::string>> claims;
  for (const RankPlace& place : places) {
    const auto rank = static_cast<std::size_t>(place.index);
    if (place.nic.empty() || rank >= readers_.size()) continue;
    const auto reader = readers.find(readers_[rank]);
    if (reader == readers.end()) continue;
    std::string_view left = place.nic;  // one NIC, or rails: hsn0,hsn1
    while (!left.empty()) claims.emplace(reader->second, take_until(left, ','));
  }
  for (const auto& [site, nic] : claims) site->claim(nic);
}

void Evidence::pin_near(const std::string& nic, int rank) {
  Site& site = site_of(rank);
  host::Host& host = site.host();
  const std::string first = nic.substr(0, nic.find(','));  // for rails, the first one decides
  const host::Pin pin = host::choose_pin(site.tree(), first, host::allowed_cpus(),
                                         ordinals_.at(static_cast<std::size_t>(rank)));
  host.nic_numa_node = pin.numa_node;
  if (!pin.core || !host::bind_to(*pin.core)) return;
  host.pinned = pin.core;
  host.core = pin.core;
}

int Evidence::reader_of(int rank) const { return readers_.at(static_cast<std::size_t>(rank)); }

bool Evidence::shares_memory(int rank, int other) const {
  const int one = memories_.at(static_cast<std::size_t>(rank));
  return one >= 0 && one == memories_.at(static_cast<std::size_t>(other));
}

namespace {

void write_fabric(JsonWriter& json, const FabricFacts& fabric) {
  json.key("fabric").begin_object();
  json.field("provider", fabric.provider)
      .field("provider_version", fabric.provider_version)
      .field("domain", fabric.domain)
      .field("fabric", fabric.fabric)
      .field("nic", fabric.nic)
      .field("api_version", fabric.api_version)
      .field("messages", fabric.messages)
      .field("completion", fabric.completion)
      .field("progress", fabric.progress)
      .field("inject_bytes", fabric.inject_bytes)
      .field("protocol", fabric.protocol)
      .field("protocol_version", fabric.protocol_version)
      .field("remote", fabric.remote)
      .field("exchange", fabric.exchange)
      .field("exchange_library", fabric.exchange_library);
  json.end_object();
}

}  // namespace

std::string Evidence::host_frame(int rank, const std::string& claimed,
                                 const LibraryFacts& library) const {
  JsonWriter json;
  json.begin_object().field("frame", "host").field("rank", rank).field("host", claimed);
  host::write_fields(json, site_of(rank).host());
  json.field("library", library.version)
      .field("library_path", library.path)
      .field("mpi_standard", library.standard)
      .field("shared_ranks", library.shared_ranks);
  if (library.fabric) write_fabric(json, *library.fabric);
  return json.end_object().take();
}

std::string Evidence::fact_frames(int rank, const std::vector<FactRequest>& requests) const {
  std::string frames;
  if (reader_of(rank) != rank) return frames;
  for (const FactRequest& request : requests) {
    for (const facts::Fact& fact : facts::collect(request, site_of(rank).tree().root())) {
      frames += facts::frame(rank, fact) + '\n';
    }
  }
  return frames;
}

bool Evidence::may_lag() const {
  return std::any_of(sites_.begin(), sites_.end(),
                     [](const auto& site) { return site->may_lag(); });
}

int Evidence::settle_ms() const {
  int longest = 0;
  for (const auto& site : sites_) longest = std::max(longest, site->settle_ms());
  return longest;
}

std::string Evidence::witness_json(int rank, std::optional<std::uint64_t> payload_bytes,
                                   bool quiet) const {
  JsonWriter json;
  const Site& site = site_of(rank);
  const witness::Delta delta = site.point(payload_bytes);
  const int reader = reader_of(rank);
  if (reader != rank) {
    witness::write_shared(json, rank, reader, delta.interval_ns);
  } else if (quiet) {
    const witness::Quiet windows = site.quiet();
    witness::write_point(json, rank, delta, &windows);
  } else {
    witness::write_point(json, rank, delta);
  }
  return json.take();
}

std::string Evidence::idle_frame(int rank) const {
  JsonWriter json;
  const witness::Delta delta = site_of(rank).changes();
  const int reader = reader_of(rank);
  json.begin_object().field("frame", "idle");
  if (reader == rank) {
    witness::write_idle_fields(json, rank, delta, site_of(rank).standing());
  } else {
    witness::write_idle_shared_fields(json, rank, reader, delta.interval_ns);
  }
  return json.end_object().take();
}

std::string Evidence::total_frame(int rank, std::optional<std::uint64_t> payload_bytes,
                                  double settled_ns) const {
  if (reader_of(rank) != rank) return "";
  JsonWriter json;
  json.begin_object().field("frame", "total");
  const Site& site = site_of(rank);
  witness::write_total_fields(json, rank, site.run(payload_bytes), settled_ns, site.tail());
  return json.end_object().take();
}

}  // namespace wireproof
