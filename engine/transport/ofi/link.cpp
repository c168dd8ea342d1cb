#include "transport/ofi/link.hpp"

#include <array>
#include <type_traits>

#include "base/failure.hpp"
#include "transport/concept.hpp"

namespace wireproof::ofi {

static_assert(RemoteLink<OfiLink<Tagged>> && RemoteLink<OfiLink<ReadingBack>> &&
              RemoteLink<OfiLink<Untagged>>);
// The only indirect calls in a loop are the provider's.
static_assert(!std::is_polymorphic_v<OfiLink<Tagged>> && !std::is_polymorphic_v<OfiLink<Untagged>>);

namespace {

/// The data that the peer needs to access a window: its start address and its key.
using WindowName = std::array<std::uint64_t, 2>;

}  // namespace

template <class Messages>
OfiLink<Messages>::OfiLink(Endpoint& endpoint, Ends ends)
    : Traffic<Messages>(endpoint, ends.self, "rank " + std::to_string(ends.peer.rank)),
      peer_(ends.peer) {
  const abi::Endpoint& end = *this->endpoint_;
  if (end.remote != nullptr) {
    calls_.read = end.remote->read;
    calls_.write = end.remote->write;
  }
  if (end.atomics != nullptr) {
    calls_.add = end.atomics->write;
    calls_.fetch = end.atomics->fetch;
    calls_.compare = end.atomics->compare;
  }
  access_storage_.resize(kAccesses);
  for (Operation& access : access_storage_) access.under_way = &accesses_left_;
  accesses_ = access_storage_.data();
}

OfiLink<ReadingBack>::OfiLink(Endpoint& endpoint, Ends ends) : OfiLink<Tagged>(endpoint, ends) {
  echo_ = echo_memory_.reserve(kWordBytes);
  if (endpoint.wants(abi::kLocalKey)) {
    echo_registration_ = endpoint.enroll(echo_, kWordBytes, abi::kRead);
    echo_descriptor_ = echo_registration_->descriptor;
  }
}

template <class Messages>
std::byte* OfiLink<Messages>::expose(WindowKind, std::size_t bytes) {
  std::byte* const memory = window_.reserve(bytes);
  window_registration_ = this->owner_->enroll(memory, bytes, abi::kRemoteRead | abi::kRemoteWrite);
  const bool virtual_place = this->owner_->wants(abi::kVirtualAddress);
  const WindowName own = {virtual_place ? reinterpret_cast<std::uint64_t>(memory) : 0,
                          window_registration_->key};
  WindowName theirs{};
  this->swap_control_with(peer_, std::as_bytes(std::span(own)),
                          std::as_writable_bytes(std::span(theirs)));
  window_place_ = theirs[0];
  window_key_ = theirs[1];
  return memory;
}

template <class Messages>
void OfiLink<Messages>::conceal() {
  // The peer's last access was flushed before its own conceal began.
  const std::array<std::byte, 1> own{};
  std::array<std::byte, 1> theirs{};
  this->swap_control_with(peer_, own, theirs);
  window_registration_.reset();
}

template class OfiLink<Tagged>;
template class OfiLink<Untagged>;

}  // namespace wireproof::ofi
