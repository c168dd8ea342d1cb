#include "transport/ofi/endpoint.hpp"

#include <sched.h>

#include <algorithm>
#include <array>

#include "base/failure.hpp"
#include "transport/ofi/refusal.hpp"

namespace wireproof::ofi {
namespace {

constexpr std::size_t kLongestAddress = 1024;

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

std::string nic_of(const abi::Info& info) {
  return info.nic == nullptr || info.nic->device == nullptr ? "" : text_of(info.nic->device->name);
}

bool is_on(const abi::Info& info, const std::string& nic) {
  return text_of(info.domain->name) == nic || nic_of(info) == nic;
}

/// The first offer on `nic`, or the first of all if none has that name: the record contains its
/// NIC, and the counters show the NIC that it used.
abi::Info* pick(const Offers& offers, const std::string& nic) {
  for (abi::Info* info = offers.first(); info != nullptr && !nic.empty(); info = info->next) {
    if (is_on(*info, nic)) return info;
  }
  return offers.first();
}

ssize_t take_or_yield(abi::Queue* queue, void* entries, std::size_t count) {
  const ssize_t taken = queue->calls->read(queue, entries, count);
  if (taken == -abi::kAgain) sched_yield();
  return taken;
}

std::string completion_name(std::uint64_t flags) {
  if ((flags & abi::kDeliveryComplete) != 0) return "delivery";
  if ((flags & abi::kTransmitComplete) != 0) return "transmit";
  if ((flags & abi::kInjectComplete) != 0) return "inject";
  return "";
}

}  // namespace

bool goes_by_address(std::string_view provider) {
  constexpr std::array<std::string_view, 4> kKernel = {"tcp", "udp", "net", "sockets"};
  const std::string_view name = provider.substr(0, provider.find(';'));
  return std::find(kKernel.begin(), kKernel.end(), name) != kKernel.end();
}

Endpoint::Endpoint(const Library& library, const Wishes& wishes, const std::string& nic)
    : library_(&library), offers_(library.offers(wishes)), info_(pick(offers_, nic)) {
  if (info_ == nullptr) refuse(library, wishes);
  open();
}

void Endpoint::check(ssize_t result, const char* what) const {
  if (result >= 0) return;
  throw cannot_measure("ofi-open", std::string(what) + " of provider " +
                                       text_of(info_->fabric->provider) +
                                       " failed: " + library_->why(result));
}

void Endpoint::open() {
  abi::Fabric* fabric = nullptr;
  check(library_->functions().open_fabric(info_->fabric, &fabric, nullptr), "the fabric");
  fabric_.reset(fabric);
  abi::Domain* domain = nullptr;
  check(fabric->calls->domain(fabric, info_, &domain, nullptr), "the domain");
  domain_.reset(domain);
  abi::VectorAttributes wanted{};
  wanted.type = info_->domain->vector_type;
  abi::Vector* vector = nullptr;
  check(domain->calls->open_vector(domain, &wanted, &vector, nullptr), "the address vector");
  vector_.reset(vector);
  abi::QueueAttributes holds{};
  holds.size = info_->transmit->size + info_->receive->size;
  holds.format = abi::EntryFormat::context;
  abi::Queue* queue = nullptr;
  check(domain->calls->open_queue(domain, &holds, &queue, nullptr), "the completion queue");
  queue_.reset(queue);
  abi::Endpoint* endpoint = nullptr;
  check(domain->calls->open_endpoint(domain, info_, &endpoint, nullptr), "the endpoint");
  endpoint_.reset(endpoint);
  abi::ObjectCalls* const calls = endpoint->object.calls;
  check(calls->bind(&endpoint->object, &vector->object, 0), "binding the address vector");
  check(calls->bind(&endpoint->object, &queue->object, abi::kTransmit | abi::kReceive),
        "binding the completion queue");
  check(calls->control(&endpoint->object, abi::kEnable, nullptr), "enabling the endpoint");
}

std::string Endpoint::address() const {
  std::string bytes(kLongestAddress, '\0');
  std::size_t length = bytes.size();
  abi::Endpoint* const end = endpoint_.get();
  check(end->address->get_name(&end->object, bytes.data(), &length), "the endpoint's address");
  bytes.resize(std::min(length, bytes.size()));
  return bytes;
}

abi::Address Endpoint::know(const std::string& address) {
  abi::Address made = abi::kNoAddress;
  const int inserted = vector_->calls->insert(vector_.get(), address.data(), 1, &made, 0, nullptr);
  check(inserted, "a peer's address");
  if (inserted == 1 && made != abi::kNoAddress) return made;
  throw cannot_measure("ofi-address", "provider " + text_of(info_->fabric->provider) +
                                          " takes no address of " + std::to_string(address.size()) +
                                          " bytes from a peer");
}

Registration Endpoint::enroll(const void* at, std::size_t bytes, std::uint64_t access) {
  abi::Memory* memory = nullptr;
  const std::uint64_t key = wants(abi::kProviderKey) ? 0 : next_key_++;
  check(domain_->memory->enroll(&domain_->object, at, bytes, access, 0, key, 0, &memory, nullptr),
        "registering memory");
  Registration made(memory);
  if (!wants(abi::kBoundToEndpoint)) return made;
  abi::ObjectCalls* const calls = memory->object.calls;
  check(calls->bind(&memory->object, &endpoint_->object, 0), "binding memory");
  check(calls->control(&memory->object, abi::kEnable, nullptr), "enabling memory");
  return made;
}

Endpoint::Take Endpoint::completions() const {
  return yields_ ? take_or_yield : queue_->calls->read;
}

void Endpoint::progress() const {
  std::array<abi::QueueEntry, 16> done{};
  const ssize_t count = queue_->calls->read(queue_.get(), done.data(), done.size());
  for (ssize_t i = 0; i < count; ++i) {  // an error belongs to the pair that caused it
    --*static_cast<Operation*>(done[static_cast<std::size_t>(i)].context)->under_way;
  }
}

std::size_t Endpoint::depth() const {
  return std::min(info_->transmit->size, info_->receive->size);
}

FabricFacts Endpoint::facts() const {
  return {.provider = text_of(info_->fabric->provider),
          .provider_version = version_text(info_->fabric->provider_version),
          .domain = text_of(info_->domain->name),
          .fabric = text_of(info_->fabric->name),
          .nic = nic_of(*info_),
          .api_version = version_text(info_->fabric->api_version),
          .messages = "",
          .completion = completion_name(info_->transmit->flags),
          .progress = info_->domain->data_progress == abi::Progress::automatic ? "auto" : "manual",
          .inject_bytes = info_->transmit->inject_size,
          .protocol = static_cast<int>(info_->endpoint->protocol),
          .protocol_version = static_cast<int>(info_->endpoint->protocol_version)};
}

}  // namespace wireproof::ofi
