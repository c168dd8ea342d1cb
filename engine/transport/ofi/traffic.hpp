// The common part of the links of pairs and groups: messages over a libfabric endpoint. Timed calls
// map one to one to the provider's calls, through the pointers that it returned; messages that fit
// are injected (they need no completion).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pattern/page_buffer.hpp"
#include "transport/ofi/endpoint.hpp"

namespace wireproof::ofi {

/// Kinds of messages that never match each other; the tag contains the kind and the sender's rank.
enum class Kind : std::uint64_t { data = 1, acknowledgement = 2, control = 3, barrier = 4 };

constexpr std::uint64_t tag_of(Kind kind, std::uint64_t sender) {
  return static_cast<std::uint64_t>(kind) << 32 | sender;
}

/// Another rank. `named`: its address if an untagged receive must name the sender, else kNoAddress
/// (any sender).
struct Peer {
  abi::Address address = abi::kNoAddress;
  abi::Address named = abi::kNoAddress;
  std::uint64_t rank = 0;
};

/// Payload as tagged messages. The provider's functions are read once: its tables do not change
/// while messages are in progress.
class Tagged {
 public:
  Tagged(const abi::Endpoint& endpoint, int self)
      : calls_(*endpoint.tagged), tag_(tag_of(Kind::data, static_cast<std::uint64_t>(self))) {}

  ssize_t inject(abi::Endpoint* end, const std::byte* source, std::size_t bytes,
                 const Peer& to) const {
    return calls_.inject(end, source, bytes, to.address, tag_);
  }
  ssize_t send(abi::Endpoint* end, const std::byte* source, std::size_t bytes, void* descriptor,
               const Peer& to, Operation& operation) const {
    return calls_.send(end, source, bytes, descriptor, to.address, tag_, &operation);
  }
  ssize_t receive(abi::Endpoint* end, std::byte* sink, std::size_t bytes, void* descriptor,
                  const Peer& from, Operation& operation) const {
    return calls_.receive(end, sink, bytes, descriptor, abi::kNoAddress,
                          tag_of(Kind::data, from.rank), 0, &operation);
  }

 private:
  abi::TaggedCalls calls_;
  std::uint64_t tag_;
};

/// Payload as untagged messages. In a pair the next message is the peer's, in a group the receive
/// specifies the sender; acknowledgements and control are tagged, which separates them.
class Untagged {
 public:
  Untagged(const abi::Endpoint& endpoint, int /*self*/) : calls_(*endpoint.messages) {}

  ssize_t inject(abi::Endpoint* end, const std::byte* source, std::size_t bytes,
                 const Peer& to) const {
    return calls_.inject(end, source, bytes, to.address);
  }
  ssize_t send(abi::Endpoint* end, const std::byte* source, std::size_t bytes, void* descriptor,
               const Peer& to, Operation& operation) const {
    return calls_.send(end, source, bytes, descriptor, to.address, &operation);
  }
  ssize_t receive(abi::Endpoint* end, std::byte* sink, std::size_t bytes, void* descriptor,
                  const Peer& from, Operation& operation) const {
    return calls_.receive(end, sink, bytes, descriptor, from.named, &operation);
  }

 private:
  abi::MessageCalls calls_;
};

/// `Messages` is one of the above. Calls with a Peer are timed, unless they say otherwise.
template <class Messages>
class Traffic {
 public:
  /// `with`: the peer that an error concerns.
  Traffic(Endpoint& endpoint, int self, std::string with);
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void wait(int first, int count) {
    for (int slot = first; slot < first + count; ++slot) settle(*slots_[slot].under_way);
  }

  void reserve(int slots);
  /// Memory that messages come from and go to: registered if the provider requires it.
  void use_memory(std::span<const std::byte> source, std::span<std::byte> sink);

 protected:
  void send_to(const Peer& to, const std::byte* source, std::size_t bytes) {
    if (bytes <= inject_bytes_) {
      inject(to, source, bytes);
      return;
    }
    start_send(sending_, to, source, bytes);
    settle(sending_left_);
  }
  void receive_from(const Peer& from, std::byte* sink, std::size_t bytes) {
    start_receive(receiving_, from, sink, bytes);
    settle(receiving_left_);
  }
  void post_send_to(int slot, const Peer& to, const std::byte* source, std::size_t bytes) {
    if (bytes <= inject_bytes_) {
      inject(to, source, bytes);
      return;
    }
    start_send(slots_[slot], to, source, bytes);
  }
  void post_receive_from(int slot, const Peer& from, std::byte* sink, std::size_t bytes) {
    start_receive(slots_[slot], from, sink, bytes);
  }
  /// Both ways at once.
  void swap_with(const Peer& to, const std::byte* source, const Peer& from, std::byte* sink,
                 std::size_t bytes) {
    start_receive(receiving_, from, sink, bytes);
    send_to(to, source, bytes);
    settle(receiving_left_);
  }

  /// An empty message of a kind other than payload.
  void signal(Kind kind, const Peer& to) {
    const std::uint64_t tag = own_tag_ | tag_of(kind, 0);
    while (const ssize_t held = calls_.inject(endpoint_, &empty_, 0, to.address, tag)) {
      try_again(held);
    }
  }
  void await_signal(Kind kind, const Peer& from) {
    expect_signal(receiving_, kind, from);
    settle(receiving_left_);
  }
  void expect_signal(Operation& operation, Kind kind, const Peer& from) {
    ++*operation.under_way;
    while (const ssize_t held = calls_.receive(endpoint_, &empty_, 0, nullptr, abi::kNoAddress,
                                               tag_of(kind, from.rank), 0, &operation)) {
      try_again(held);
    }
  }

  /// Repeats until `left` is 0; every poll lets the provider make progress.
  [[gnu::always_inline]] void settle(const std::uint32_t& left) {
    while (left != 0) progress();
  }
  [[gnu::always_inline]] void progress() {
    abi::QueueEntry done[kEntries];
    const ssize_t count = calls_.completions(queue_, done, kEntries);
    if (count < 0) {
      if (count != -abi::kAgain) [[unlikely]]
        lost(count);
      return;
    }
    for (ssize_t i = 0; i < count; ++i) --*static_cast<Operation*>(done[i].context)->under_way;
  }
  /// The provider has no room; it makes some while it is polled.
  [[gnu::always_inline]] void try_again(ssize_t held) {
    if (held != -abi::kAgain) [[unlikely]]
      lost(held);
    progress();
  }
  /// Never returns: throws what the provider reports about the failed operation.
  [[gnu::cold, gnu::noinline, noreturn]] void lost(ssize_t result) const;

  // Untimed. Messages of any length, known to both ends; a receiver does not burn its core.
  void send_control_to(const Peer& to, std::span<const std::byte> message);
  void receive_control_from(const Peer& from, std::span<std::byte> message);
  /// Both ends call it: a send that is complete only at delivery waits for the peer's receive. At
  /// most kControlBytes.
  void swap_control_with(const Peer& peer, std::span<const std::byte> own,
                         std::span<std::byte> theirs);

  abi::Endpoint* endpoint_;
  abi::Queue* queue_;
  void* source_descriptor_ = nullptr;
  void* sink_descriptor_ = nullptr;
  Operation* slots_ = nullptr;  // into slot_storage_
  Endpoint* owner_;

 private:
  static constexpr std::size_t kEntries = 16;

  struct Calls {
    decltype(abi::TaggedCalls::send) send = nullptr;
    decltype(abi::TaggedCalls::receive) receive = nullptr;
    decltype(abi::TaggedCalls::inject) inject = nullptr;
    decltype(abi::QueueCalls::read) completions = nullptr;
  };

  [[gnu::always_inline]] void inject(const Peer& to, const std::byte* source, std::size_t bytes) {
    while (const ssize_t held = messages_.inject(endpoint_, source, bytes, to)) try_again(held);
  }
  [[gnu::always_inline]] void start_send(Operation& operation, const Peer& to,
                                         const std::byte* source, std::size_t bytes) {
    ++*operation.under_way;
    while (const ssize_t held =
               messages_.send(endpoint_, source, bytes, source_descriptor_, to, operation)) {
      try_again(held);
    }
  }
  [[gnu::always_inline]] void start_receive(Operation& operation, const Peer& from, std::byte* sink,
                                            std::size_t bytes) {
    ++*operation.under_way;
    while (const ssize_t held =
               messages_.receive(endpoint_, sink, bytes, sink_descriptor_, from, operation)) {
      try_again(held);
    }
  }

  void settle_patiently(const std::uint32_t& left);
  void start_control_send(const Peer& to, std::span<const std::byte> message);
  void start_control_receive(const Peer& from, std::size_t bytes);

  Messages messages_;
  Calls calls_;
  std::uint64_t own_tag_;
  std::size_t inject_bytes_;
  std::byte empty_{};  // the address used for a message of 0 bytes
  std::uint32_t sending_left_ = 0;
  std::uint32_t receiving_left_ = 0;
  Operation sending_{};
  Operation receiving_{};

  // Untimed from here on.
  std::string with_;
  std::vector<Operation> slot_storage_;
  std::vector<std::uint32_t> slots_left_;
  Registration source_registration_;
  Registration sink_registration_;
  PageBuffer control_;
  std::byte* control_out_ = nullptr;  // into control_
  std::byte* control_in_ = nullptr;
  Registration control_registration_;
  void* control_descriptor_ = nullptr;
};

}  // namespace wireproof::ofi
