// A libfabric within one process, for behaviour that the real ones here never show: every third
// call finds no room, memory must be registered, a message can be too long for its receive. Its
// providers differ in what they offer and demand (kVariants).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "fake_state.hpp"

namespace {

void match(Place& place) {
  for (auto receive = place.posted.begin(); receive != place.posted.end();) {
    const auto found =
        std::find_if(place.arrived.begin(), place.arrived.end(),
                     [&](const Message& message) { return message.tag == receive->tag; });
    if (found == place.arrived.end()) {
      ++receive;
      continue;
    }
    std::memcpy(receive->at, found->bytes.data(), std::min(receive->bytes, found->bytes.size()));
    place.queue->done.emplace_back(receive->context,
                                   found->bytes.size() > receive->bytes ? kTooLong : 0);
    place.arrived.erase(found);
    receive = place.posted.erase(receive);
  }
}

Place& place_of(Endpoint* endpoint) { return *reinterpret_cast<Place*>(endpoint); }

ssize_t deliver(const void* from, std::size_t bytes, Address to, std::uint64_t tag) {
  const auto* const text = static_cast<const char*>(from);
  Place& place = *places.at(to);
  place.arrived.push_back({tag, std::vector<char>(text, text + bytes)});
  match(place);
  return 0;
}

ssize_t inject(Endpoint*, const void* from, std::size_t bytes, Address to, std::uint64_t tag) {
  const std::lock_guard lock(mutex);
  if (no_room()) return -kAgain;
  return bytes > kInject ? -kNotRegistered : deliver(from, bytes, to, tag);
}

ssize_t send(Endpoint* end, const void* from, std::size_t bytes, void* descriptor, Address to,
             std::uint64_t tag, void* context) {
  const std::lock_guard lock(mutex);
  if (no_room()) return -kAgain;
  const bool good = registered(from, bytes, descriptor);
  place_of(end).queue->done.emplace_back(context, good ? 0 : kNotRegistered);
  return good ? deliver(from, bytes, to, tag) : 0;
}

ssize_t receive(Endpoint* end, void* at, std::size_t bytes, void* descriptor, Address,
                std::uint64_t tag, std::uint64_t, void* context) {
  const std::lock_guard lock(mutex);
  if (no_room()) return -kAgain;
  Place& place = place_of(end);
  if (!registered(at, bytes, descriptor)) {
    place.queue->done.emplace_back(context, kNotRegistered);
    return 0;
  }
  place.posted.push_back({tag, at, bytes, context});
  match(place);
  return 0;
}

void land(Place& place) {
  for (const auto& [at, bytes] : place.landing) std::memcpy(at, bytes.data(), bytes.size());
  place.landing.clear();
}

/// Both directions of remote access: from `source` to `target`, one of them the peer's window.
ssize_t move(Endpoint* end, void* local, std::size_t bytes, void* descriptor, std::uint64_t place,
             std::uint64_t key, void* context, bool writes) {
  const std::lock_guard lock(mutex);
  if (no_room()) return -kAgain;
  const auto found = regions.find(key);
  const bool good = found != regions.end() && registered(local, bytes, descriptor) &&
                    place >= found->second->begin &&
                    place + bytes <= found->second->begin + found->second->bytes;
  auto* const remote = reinterpret_cast<void*>(place);
  Place& own = place_of(end);
  if (good && writes && own.variant->late) {
    const auto* const text = static_cast<const char*>(local);
    own.landing.emplace_back(remote, std::vector<char>(text, text + bytes));
  } else if (good) {
    land(own);
    std::memcpy(writes ? remote : local, writes ? local : remote, bytes);
  }
  place_of(end).queue->done.emplace_back(context, good ? 0 : kNotRegistered);
  return 0;
}

ssize_t read_remote(Endpoint* end, void* at, std::size_t bytes, void* descriptor, Address,
                    std::uint64_t place, std::uint64_t key, void* context) {
  return move(end, at, bytes, descriptor, place, key, context, false);
}

ssize_t write_remote(Endpoint* end, const void* from, std::size_t bytes, void* descriptor, Address,
                     std::uint64_t place, std::uint64_t key, void* context) {
  return move(end, const_cast<void*>(from), bytes, descriptor, place, key, context, true);
}

constexpr std::size_t kMostNumbers = 4;

/// On 64-bit integers; `result` and `compared` are null if the operation does not have them.
ssize_t change(Endpoint* end, const void* operand, std::size_t count, void* descriptor,
               const void* compared, void* result, void* result_descriptor, std::uint64_t place,
               std::uint64_t key, void* context) {
  const std::lock_guard lock(mutex);
  if (no_room()) return -kAgain;
  const std::size_t bytes = count * sizeof(std::uint64_t);
  const auto found = regions.find(key);
  const bool good =
      found != regions.end() && count <= kMostNumbers && registered(operand, bytes, descriptor) &&
      registered(result, result == nullptr ? 0 : bytes, result_descriptor) &&
      place >= found->second->begin && place + bytes <= found->second->begin + found->second->bytes;
  auto* const words = reinterpret_cast<std::uint64_t*>(place);
  const auto* const given = static_cast<const std::uint64_t*>(operand);
  for (std::size_t i = 0; good && i < count; ++i) {
    const std::uint64_t before = words[i];
    if (compared == nullptr) words[i] += given[i];
    if (compared != nullptr && std::memcmp(&before, compared, sizeof before) == 0)
      words[i] = given[i];
    if (result != nullptr) std::memcpy(result, &before, sizeof before);
  }
  place_of(end).queue->done.emplace_back(context, good ? 0 : kNotRegistered);
  return 0;
}

ssize_t add(Endpoint* end, const void* operand, std::size_t count, void* descriptor, Address,
            std::uint64_t place, std::uint64_t key, Number, Operation, void* context) {
  return change(end, operand, count, descriptor, nullptr, nullptr, nullptr, place, key, context);
}
ssize_t fetch(Endpoint* end, const void* operand, std::size_t count, void* descriptor, void* result,
              void* result_descriptor, Address, std::uint64_t place, std::uint64_t key, Number,
              Operation, void* context) {
  return change(end, operand, count, descriptor, nullptr, result, result_descriptor, place, key,
                context);
}
ssize_t compare(Endpoint* end, const void* operand, std::size_t count, void* descriptor,
                const void* compared, void*, void* result, void* result_descriptor, Address,
                std::uint64_t place, std::uint64_t key, Number, Operation, void* context) {
  return change(end, operand, count, descriptor, compared, result, result_descriptor, place, key,
                context);
}
int takes(Endpoint*, Number, Operation, std::size_t* count) {
  *count = kMostNumbers;
  return 0;
}

ssize_t read_queue(Queue* queue, void* entries, std::size_t count) {
  const std::lock_guard lock(mutex);
  auto& done = reinterpret_cast<FakeQueue*>(queue)->done;
  auto* const out = static_cast<QueueEntry*>(entries);
  std::size_t taken = 0;
  for (; taken < count && !done.empty() && done.front().second == 0; done.pop_front()) {
    out[taken++].context = done.front().first;
  }
  if (taken > 0) return static_cast<ssize_t>(taken);
  return done.empty() ? -kAgain : -kErrorAvailable;
}

ssize_t read_error(Queue* queue, QueueError* error, std::uint64_t) {
  const std::lock_guard lock(mutex);
  auto& done = reinterpret_cast<FakeQueue*>(queue)->done;
  error->context = done.front().first;
  error->error = done.front().second;
  done.pop_front();
  return 1;
}

const char* describe(Queue*, int, const void*, char*, std::size_t) { return "said by the fake"; }

int keep(Object*) { return 0; }
int bind(Object* object, Object* to, std::uint64_t flags) {
  if ((flags & kTransmit) != 0) {
    reinterpret_cast<Place*>(object)->queue = reinterpret_cast<FakeQueue*>(to);
  }
  return 0;
}
int control(Object*, int, void*) { return 0; }

ObjectCalls object_calls = {sizeof(ObjectCalls), keep, bind, control, {}};

int close_endpoint(Object* object) {
  const std::lock_guard lock(mutex);
  auto* const place = reinterpret_cast<Place*>(object);
  places.erase(place->number);
  delete place;
  return 0;
}
int close_memory(Object* object) {
  const std::lock_guard lock(mutex);
  auto* const region = reinterpret_cast<Region*>(object);
  regions.erase(region->memory.key);
  delete region;
  return 0;
}
int close_queue(Object* object) {
  delete reinterpret_cast<FakeQueue*>(object);
  return 0;
}

ObjectCalls endpoint_object = {sizeof(ObjectCalls), close_endpoint, bind, control, {}};
ObjectCalls memory_object = {sizeof(ObjectCalls), close_memory, bind, control, {}};
ObjectCalls queue_object = {sizeof(ObjectCalls), close_queue, bind, control, {}};

int get_name(Object* endpoint, void* address, std::size_t* length) {
  if (reinterpret_cast<Place*>(endpoint)->variant->nameless) return -kNoData;
  *length = sizeof(std::uint64_t);
  std::memcpy(address, &reinterpret_cast<Place*>(endpoint)->number, *length);
  return 0;
}

int insert(Vector*, const void* addresses, std::size_t, Address* made, std::uint64_t, void*) {
  std::memcpy(made, addresses, sizeof *made);
  return 1;
}

AddressCalls address_calls = {sizeof(AddressCalls), nullptr, get_name};
VectorCalls vector_calls = {sizeof(VectorCalls), insert};
QueueCalls queue_calls = {sizeof(QueueCalls), read_queue, nullptr, read_error, {}, describe};
TaggedCalls tagged_calls = {sizeof(TaggedCalls), receive, {}, send, {}, inject};
RemoteCalls remote_calls = {sizeof(RemoteCalls), read_remote, {}, write_remote};
AtomicCalls atomic_calls = {
    sizeof(AtomicCalls), add, {}, fetch, {}, compare, {}, takes, takes, takes};
MessageCalls message_calls = {sizeof(MessageCalls), nullptr, {}, nullptr, {}, nullptr};

Vector the_vector = {{0, nullptr, &object_calls}, &vector_calls};

int open_vector(Domain*, VectorAttributes*, Vector** made, void*) {
  *made = &the_vector;
  return 0;
}
int open_queue(Domain*, QueueAttributes*, Queue** made, void*) {
  auto* const queue = new FakeQueue{};
  queue->queue = {{0, nullptr, &queue_object}, &queue_calls};
  *made = &queue->queue;
  return 0;
}
int open_endpoint(Domain*, Info* info, Endpoint** made, void*) {
  const std::lock_guard lock(mutex);
  auto* const place = new Place{};
  place->endpoint.object.calls = &endpoint_object;
  place->endpoint.address = &address_calls;
  place->endpoint.tagged = &tagged_calls;
  place->endpoint.remote = &remote_calls;
  place->endpoint.atomics = &atomic_calls;
  place->endpoint.messages = &message_calls;
  place->variant = &variant_of(info->fabric->provider);
  place->number = next_number++;
  places[place->number] = place;
  *made = &place->endpoint;
  return 0;
}
int enroll(Object*, const void* at, std::size_t bytes, std::uint64_t, std::uint64_t, std::uint64_t,
           std::uint64_t, Memory** made, void*) {
  const std::lock_guard lock(mutex);
  auto* const region = new Region{{}, reinterpret_cast<std::uintptr_t>(at), bytes};
  region->memory.object.calls = &memory_object;
  region->memory.key = next_number++;
  region->memory.descriptor = region;
  regions[region->memory.key] = region;
  *made = &region->memory;
  return 0;
}

DomainCalls domain_calls = {sizeof(DomainCalls), open_vector, open_queue, open_endpoint};
MemoryCalls memory_calls = {sizeof(MemoryCalls), enroll};
Domain the_domain = {{0, nullptr, &object_calls}, &domain_calls, &memory_calls};

int open_domain(Fabric*, Info*, Domain** made, void*) {
  *made = &the_domain;
  return 0;
}

FabricCalls fabric_calls = {sizeof(FabricCalls), open_domain};
Fabric the_fabric = {{0, nullptr, &object_calls}, &fabric_calls};

/// An Info with all that it points to.
struct Whole {
  Info info{};
  TransmitAttributes transmit{};
  ReceiveAttributes receive{};
  EndpointAttributes endpoint{};
  DomainAttributes domain{};
  FabricAttributes fabric{};
};

/// `Whole` of one provider.
Info* offer_of(Variant& variant, const Info* hints);

}  // namespace

extern "C" {

std::uint32_t fi_version() { return version(FAKE_MAJOR, FAKE_MINOR); }
const char* fi_strerror(int error) { return error == kTooLong ? "too long" : "refused"; }

Info* fi_dupinfo(const Info*) {
  auto* const whole = new Whole;
  whole->info.transmit = &whole->transmit;
  whole->info.receive = &whole->receive;
  whole->info.endpoint = &whole->endpoint;
  whole->info.domain = &whole->domain;
  whole->info.fabric = &whole->fabric;
  return &whole->info;
}
void fi_freeinfo(Info* info) {
  while (info != nullptr) {
    Info* const next = info->next;
    if (!is_ours(info->fabric->provider)) std::free(info->fabric->provider);
    delete reinterpret_cast<Whole*>(info);
    info = next;
  }
}

int fi_getinfo(std::uint32_t, const char*, const char*, std::uint64_t, const Info* hints,
               Info** found) {
  *found = nullptr;
  for (std::size_t i = std::size(kVariants); i-- > 0;) {
    if (hints != nullptr && !meets(kVariants[i], *hints)) continue;
    Info* const info = offer_of(kVariants[i], hints);
    info->next = *found;
    *found = info;
  }
  return *found == nullptr ? -kNoData : 0;
}
int fi_fabric(FabricAttributes*, Fabric** made, void*) {
  *made = &the_fabric;
  return 0;
}
}

namespace {

Info* offer_of(Variant& variant, const Info* hints) {
  Info* const info = fi_dupinfo(nullptr);
  info->capabilities = variant.capabilities;
  info->transmit->inject_size = kInject;
  info->transmit->size = info->receive->size = 64;
  info->transmit->flags = hints == nullptr ? 0 : hints->transmit->flags;
  info->endpoint->type = EndpointType::reliable_datagram;
  info->endpoint->largest_message = std::size_t{1} << 20;
  info->domain->registration = variant.registration;
  info->domain->name = info->fabric->name = info->fabric->provider = variant.name;
  return info;
}

}  // namespace
