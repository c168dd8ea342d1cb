#include "transport/ofi/link.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/backoff.hpp"
#include "base/failure.hpp"
#include "transport/concept.hpp"

namespace wireproof::ofi {

static_assert(MemoryLink<OfiLink<Tagged>> && MemoryLink<OfiLink<Untagged>>);
// An indirect call in a loop is the provider's.
static_assert(!std::is_polymorphic_v<OfiLink<Tagged>> && !std::is_polymorphic_v<OfiLink<Untagged>>);
static_assert(std::is_standard_layout_v<Operation>);

namespace {

// As over MPI: a peer between two segments needs microseconds, one in a slow segment much longer.
constexpr std::int64_t kControlSpinNs = 2'000'000;
constexpr int kLooksPerPause = 16;
constexpr std::size_t kControlBytes = 4096;  // the largest control message has 100

/// What the peer needs to reach a window: where it begins and its key.
using WindowName = std::array<std::uint64_t, 2>;

}  // namespace

template <class Messages>
OfiLink<Messages>::OfiLink(Endpoint& endpoint, Ends ends)
    : endpoint_(endpoint.raw()),
      queue_(endpoint.queue()),
      messages_(*endpoint_, ends),
      peer_(ends.address),
      acknowledge_tag_(tag_of(Kind::acknowledgement, ends.self)),
      awaited_ack_tag_(tag_of(Kind::acknowledgement, ends.peer)),
      inject_bytes_(endpoint.info().transmit->inject_size),
      owner_(&endpoint),
      ends_(std::move(ends)) {
  const abi::Endpoint& end = *endpoint_;
  calls_ = {.send = end.tagged->send,
            .receive = end.tagged->receive,
            .inject = end.tagged->inject,
            .completions = queue_->calls->read};
  if (end.remote != nullptr) {
    calls_.read = end.remote->read;
    calls_.write = end.remote->write;
  }
  sending_.under_way = &sending_left_;
  receiving_.under_way = &receiving_left_;
  access_storage_.resize(kAccesses);
  for (Operation& access : access_storage_) access.under_way = &accesses_left_;
  accesses_ = access_storage_.data();
  control_out_ = control_.reserve(2 * kControlBytes);
  control_in_ = control_out_ + kControlBytes;
  if (owner_->wants(abi::kLocalKey)) {
    control_registration_ =
        owner_->enroll(control_out_, 2 * kControlBytes, abi::kTransmit | abi::kReceive);
    control_descriptor_ = control_registration_->descriptor;
  }
}

template <class Messages>
void OfiLink<Messages>::reserve(int slots) {
  const auto wanted = static_cast<std::size_t>(slots);
  if (wanted > owner_->depth()) {
    throw CannotBegin("ofi-depth", "the provider takes " + std::to_string(owner_->depth()) +
                                       " operations at a time, and this pattern wants " +
                                       std::to_string(slots) + "; lower the window");
  }
  if (slot_storage_.size() >= wanted) return;
  slot_storage_.resize(wanted);
  slots_left_.assign(wanted, 0);  // nothing is under way while this is called
  for (std::size_t i = 0; i < wanted; ++i) slot_storage_[i].under_way = &slots_left_[i];
  slots_ = slot_storage_.data();
}

template <class Messages>
void OfiLink<Messages>::use_memory(std::span<const std::byte> source, std::span<std::byte> sink) {
  if (!owner_->wants(abi::kLocalKey)) return;
  const auto access = abi::kTransmit | abi::kReceive | abi::kRead | abi::kWrite;
  source_registration_ =
      source.empty() ? Registration() : owner_->enroll(source.data(), source.size(), access);
  sink_registration_ =
      sink.empty() ? Registration() : owner_->enroll(sink.data(), sink.size(), access);
  source_descriptor_ = source_registration_ ? source_registration_->descriptor : nullptr;
  sink_descriptor_ = sink_registration_ ? sink_registration_->descriptor : nullptr;
}

template <class Messages>
std::byte* OfiLink<Messages>::expose(WindowKind, std::size_t bytes) {
  std::byte* const memory = window_.reserve(bytes);
  window_registration_ = owner_->enroll(memory, bytes, abi::kRemoteRead | abi::kRemoteWrite);
  const bool virtual_place = owner_->wants(abi::kVirtualAddress);
  const WindowName own = {virtual_place ? reinterpret_cast<std::uint64_t>(memory) : 0,
                          window_registration_->key};
  WindowName theirs{};
  swap_control(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(theirs)));
  window_place_ = theirs[0];
  window_key_ = theirs[1];
  return memory;
}

template <class Messages>
void OfiLink<Messages>::conceal() {
  // The peer's last access has been flushed before its own conceal began.
  const std::array<std::byte, 1> own{};
  std::array<std::byte, 1> theirs{};
  swap_control(own, theirs);
  window_registration_.reset();
}

template <class Messages>
void OfiLink<Messages>::settle_patiently(const std::uint32_t& left) {
  Backoff backoff(kControlSpinNs);
  while (left != 0) {
    for (int i = 0; i < kLooksPerPause && left != 0; ++i) progress();
    if (left != 0) backoff.pause();
  }
}

template <class Messages>
void OfiLink<Messages>::start_control_send(std::span<const std::byte> message) {
  std::memcpy(control_out_, message.data(), message.size());
  ++sending_left_;
  while (const ssize_t held =
             calls_.send(endpoint_, control_out_, message.size(), control_descriptor_, peer_,
                         tag_of(Kind::control, ends_.self), &sending_)) {
    try_again(held);
  }
}

template <class Messages>
void OfiLink<Messages>::start_control_receive(std::size_t bytes) {
  ++receiving_left_;
  while (const ssize_t held =
             calls_.receive(endpoint_, control_in_, bytes, control_descriptor_, abi::kNoAddress,
                            tag_of(Kind::control, ends_.peer), 0, &receiving_)) {
    try_again(held);
  }
}

template <class Messages>
void OfiLink<Messages>::send_control(std::span<const std::byte> message) {
  start_control_send(message);
  settle_patiently(sending_left_);
}

template <class Messages>
void OfiLink<Messages>::recv_control(std::span<std::byte> message) {
  start_control_receive(message.size());
  settle_patiently(receiving_left_);
  std::memcpy(message.data(), control_in_, message.size());
}

/// Both ends call it: a send that is complete only at delivery waits for the peer's receive.
template <class Messages>
void OfiLink<Messages>::swap_control(std::span<const std::byte> own, std::span<std::byte> theirs) {
  start_control_receive(theirs.size());
  start_control_send(own);
  settle_patiently(sending_left_);
  settle_patiently(receiving_left_);
  std::memcpy(theirs.data(), control_in_, theirs.size());
}

template <class Messages>
void OfiLink<Messages>::lost(ssize_t result) const {
  std::string why = owner_->library().why(result);
  if (result == -abi::kErrorAvailable) {
    abi::QueueError error{};
    if (queue_->calls->read_error(queue_, &error, 0) > 0) {
      why = owner_->library().why(error.error);
      std::array<char, 256> text{};
      const char* const more = queue_->calls->describe(queue_, error.provider_error, error.details,
                                                       text.data(), text.size());
      if (more != nullptr && *more != '\0' && why != more) why += " (" + std::string(more) + ")";
    }
  }
  throw cannot_measure("ofi-lost", ends_.name + ": " + why);
}

template class OfiLink<Tagged>;
template class OfiLink<Untagged>;

}  // namespace wireproof::ofi
