#include "transport/ofi/traffic.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/backoff.hpp"
#include "base/failure.hpp"

namespace wireproof::ofi {

static_assert(std::is_standard_layout_v<Operation>);

namespace {

// As over MPI: a peer between two segments needs microseconds, one in a slow segment much longer.
constexpr std::int64_t kControlSpinNs = 2'000'000;
constexpr int kLooksPerPause = 16;
constexpr std::size_t kControlBytes = 4096;  // of one message: longer texts are sent in several

}  // namespace

template <class Messages>
Traffic<Messages>::Traffic(Endpoint& endpoint, int self, std::string with)
    : endpoint_(endpoint.raw()),
      queue_(endpoint.queue()),
      owner_(&endpoint),
      messages_(*endpoint_, self),
      own_tag_(static_cast<std::uint64_t>(self)),
      inject_bytes_(endpoint.info().transmit->inject_size),
      with_(std::move(with)) {
  const abi::TaggedCalls& tagged = *endpoint_->tagged;
  calls_ = {.send = tagged.send,
            .receive = tagged.receive,
            .inject = tagged.inject,
            .completions = owner_->completions()};
  sending_.under_way = &sending_left_;
  receiving_.under_way = &receiving_left_;
  control_out_ = control_.reserve(2 * kControlBytes);
  control_in_ = control_out_ + kControlBytes;
  if (owner_->wants(abi::kLocalKey)) {
    control_registration_ =
        owner_->enroll(control_out_, 2 * kControlBytes, abi::kTransmit | abi::kReceive);
    control_descriptor_ = control_registration_->descriptor;
  }
}

template <class Messages>
void Traffic<Messages>::reserve(int slots) {
  const auto wanted = static_cast<std::size_t>(slots);
  if (wanted > owner_->depth()) {
    throw CannotBegin("ofi-depth", "the provider takes " + std::to_string(owner_->depth()) +
                                       " operations at a time, and this pattern wants " +
                                       std::to_string(slots) + "; lower the window");
  }
  if (slot_storage_.size() >= wanted) return;
  slot_storage_.resize(wanted);
  slots_left_.assign(wanted, 0);  // nothing is in progress while this is called
  for (std::size_t i = 0; i < wanted; ++i) slot_storage_[i].under_way = &slots_left_[i];
  slots_ = slot_storage_.data();
}

template <class Messages>
void Traffic<Messages>::use_memory(std::span<const std::byte> source, std::span<std::byte> sink) {
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
void Traffic<Messages>::settle_patiently(const std::uint32_t& left) {
  Backoff backoff(kControlSpinNs);
  while (left != 0) {
    for (int i = 0; i < kLooksPerPause && left != 0; ++i) progress();
    if (left != 0) backoff.pause();
  }
}

template <class Messages>
void Traffic<Messages>::start_control_send(const Peer& to, std::span<const std::byte> message) {
  std::memcpy(control_out_, message.data(), message.size());
  ++sending_left_;
  while (const ssize_t held =
             calls_.send(endpoint_, control_out_, message.size(), control_descriptor_, to.address,
                         own_tag_ | tag_of(Kind::control, 0), &sending_)) {
    try_again(held);
  }
}

template <class Messages>
void Traffic<Messages>::start_control_receive(const Peer& from, std::size_t bytes) {
  ++receiving_left_;
  while (const ssize_t held =
             calls_.receive(endpoint_, control_in_, bytes, control_descriptor_, abi::kNoAddress,
                            tag_of(Kind::control, from.rank), 0, &receiving_)) {
    try_again(held);
  }
}

template <class Messages>
void Traffic<Messages>::send_control_to(const Peer& to, std::span<const std::byte> message) {
  for (std::size_t at = 0; at < message.size(); at += kControlBytes) {
    start_control_send(to, message.subspan(at, std::min(kControlBytes, message.size() - at)));
    settle_patiently(sending_left_);
  }
}

template <class Messages>
void Traffic<Messages>::receive_control_from(const Peer& from, std::span<std::byte> message) {
  for (std::size_t at = 0; at < message.size(); at += kControlBytes) {
    const std::size_t bytes = std::min(kControlBytes, message.size() - at);
    start_control_receive(from, bytes);
    settle_patiently(receiving_left_);
    std::memcpy(message.data() + at, control_in_, bytes);
  }
}

template <class Messages>
void Traffic<Messages>::swap_control_with(const Peer& peer, std::span<const std::byte> own,
                                          std::span<std::byte> theirs) {
  start_control_receive(peer, theirs.size());
  start_control_send(peer, own);
  settle_patiently(sending_left_);
  settle_patiently(receiving_left_);
  std::memcpy(theirs.data(), control_in_, theirs.size());
}

template <class Messages>
void Traffic<Messages>::lost(ssize_t result) const {
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
  throw cannot_measure("ofi-lost", with_ + ": " + why);
}

template class Traffic<Tagged>;
template class Traffic<Untagged>;

}  // namespace wireproof::ofi
