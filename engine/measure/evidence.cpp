#include "measure/evidence.hpp"

#include <sstream>

#include "base/json_writer.hpp"
#include "facts/collect.hpp"
#include "host/gather.hpp"
#include "witness/frames.hpp"
#include "witness/reader.hpp"

namespace wireproof {

struct Evidence::State {
  explicit State(const std::string& root) : host(host::gather(root)), reader(root) {}
  host::Host host;
  witness::Reader reader;
  witness::Snapshot before;
  witness::Snapshot after;
  std::vector<Identity> identities;
  std::vector<witness::HostIdentity> namespaces;
};

Evidence::Evidence(const std::string& root) : state_(std::make_unique<State>(root)) {}
Evidence::~Evidence() = default;

std::string Evidence::identity_line() const {
  const host::Host& h = state_->host;
  std::ostringstream line;
  line << h.netns << ' ' << h.shm_device << ' ' << h.boot_id;
  return line.str();
}

void Evidence::learn_identities(const std::vector<std::string>& lines) {
  for (const std::string& text : lines) {
    Identity identity;
    std::istringstream line(text);
    line >> identity.netns >> identity.shm_device >> identity.boot_id;
    state_->namespaces.push_back({identity.boot_id, identity.netns});
    state_->identities.push_back(std::move(identity));
  }
}

int Evidence::reader_of(int rank) const { return witness::reader_of(state_->namespaces, rank); }

bool Evidence::shares_memory(int rank, int other) const {
  const Identity& one = state_->identities[static_cast<std::size_t>(rank)];
  const Identity& two = state_->identities[static_cast<std::size_t>(other)];
  return !one.boot_id.empty() && one.shm_device != 0 && one.boot_id == two.boot_id &&
         one.shm_device == two.shm_device;
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
void Evidence::read_after() { state_->after = state_->reader.read(); }

std::string Evidence::witness_json(int rank) const {
  JsonWriter json;
  const witness::Delta delta = state_->reader.delta(state_->before, state_->after);
  const int reader = reader_of(rank);
  if (reader == rank) {
    witness::write_point(json, rank, delta);
  } else {
    witness::write_shared(json, rank, reader, delta.interval_ns);
  }
  return json.take();
}

std::string Evidence::idle_frame(int rank) const {
  JsonWriter json;
  const witness::Delta delta = state_->reader.delta(state_->before, state_->after);
  const int reader = reader_of(rank);
  json.begin_object().field("frame", "idle");
  if (reader == rank) {
    witness::write_idle_fields(json, rank, delta);
  } else {
    witness::write_idle_shared_fields(json, rank, reader, delta.interval_ns);
  }
  return json.end_object().take();
}

}  // namespace wireproof
