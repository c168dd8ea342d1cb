// One end of one pair over a libfabric endpoint. Timed calls are the provider's own, one for one,
// through the pointers that it gave; messages that fit are injected (they need no completion).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pattern/page_buffer.hpp"
#include "plan/plan.hpp"
#include "transport/ofi/endpoint.hpp"

namespace wireproof::ofi {

/// Kinds of messages that never match each other; the tag holds the kind and the sender's rank.
enum class Kind : std::uint64_t { data = 1, acknowledgement = 2, control = 3 };

constexpr std::uint64_t tag_of(Kind kind, int sender) {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint64_t>(sender);
}

struct Ends {
  int self = 0;
  int peer = 0;
  abi::Address address = abi::kNoAddress;  // the peer's
  std::string name;                        // the peer's, for errors
};

/// Payload as tagged messages. The provider's functions are taken once: its tables do not change
/// while messages are under way.
class Tagged {
 public:
  Tagged(const abi::Endpoint& endpoint, const Ends& ends)
      : calls_(*endpoint.tagged),
        send_tag_(tag_of(Kind::data, ends.self)),
        receive_tag_(tag_of(Kind::data, ends.peer)) {}

  ssize_t inject(abi::Endpoint* end, const std::byte* source, std::size_t bytes,
                 abi::Address to) const {
    return calls_.inject(end, source, bytes, to, send_tag_);
  }
  ssize_t send(abi::Endpoint* end, const std::byte* source, std::size_t bytes, void* descriptor,
               abi::Address to, Operation& operation) const {
    return calls_.send(end, source, bytes, descriptor, to, send_tag_, &operation);
  }
  ssize_t receive(abi::Endpoint* end, std::byte* sink, std::size_t bytes, void* descriptor,
                  Operation& operation) const {
    return calls_.receive(end, sink, bytes, descriptor, abi::kNoAddress, receive_tag_, 0,
                          &operation);
  }

 private:
  abi::TaggedCalls calls_;
  std::uint64_t send_tag_;
  std::uint64_t receive_tag_;
};

/// Payload as messages without a tag. One pair at a time is under way in a process, so the next
/// message is the peer's; acknowledgements and control are tagged, and so apart.
class Untagged {
 public:
  Untagged(const abi::Endpoint& endpoint, const Ends&) : calls_(*endpoint.messages) {}

  ssize_t inject(abi::Endpoint* end, const std::byte* source, std::size_t bytes,
                 abi::Address to) const {
    return calls_.inject(end, source, bytes, to);
  }
  ssize_t send(abi::Endpoint* end, const std::byte* source, std::size_t bytes, void* descriptor,
               abi::Address to, Operation& operation) const {
    return calls_.send(end, source, bytes, descriptor, to, &operation);
  }
  ssize_t receive(abi::Endpoint* end, std::byte* sink, std::size_t bytes, void* descriptor,
                  Operation& operation) const {
    return calls_.receive(end, sink, bytes, descriptor, abi::kNoAddress, &operation);
  }

 private:
  abi::MessageCalls calls_;
};

/// `Messages` is Tagged or Untagged.
template <class Messages>
class OfiLink {
 public:
  static constexpr bool kOneSided = true;

  OfiLink(Endpoint& endpoint, Ends ends);
  OfiLink(const OfiLink&) = delete;
  OfiLink& operator=(const OfiLink&) = delete;

  void send(const std::byte* source, std::size_t bytes) {
    if (bytes <= inject_bytes_) {
      inject(source, bytes);
      return;
    }
    start_send(sending_, source, bytes);
    settle(sending_left_);
  }
  void recv(std::byte* sink, std::size_t bytes) {
    start_receive(receiving_, sink, bytes);
    settle(receiving_left_);
  }
  void post_send(int slot, const std::byte* source, std::size_t bytes) {
    if (bytes <= inject_bytes_) {
      inject(source, bytes);
      return;
    }
    start_send(slots_[slot], source, bytes);
  }
  void post_recv(int slot, std::byte* sink, std::size_t bytes) {
    start_receive(slots_[slot], sink, bytes);
  }
  void wait(int first, int count) {
    for (int slot = first; slot < first + count; ++slot) settle(*slots_[slot].under_way);
  }
  void send_ack() {
    while (const ssize_t held = calls_.inject(endpoint_, &empty_, 0, peer_, acknowledge_tag_)) {
      try_again(held);
    }
  }
  void recv_ack() {
    ++receiving_left_;
    while (const ssize_t held = calls_.receive(endpoint_, &empty_, 0, nullptr, abi::kNoAddress,
                                               awaited_ack_tag_, 0, &receiving_)) {
      try_again(held);
    }
    settle(receiving_left_);
  }

  void put(const std::byte* source, std::size_t bytes, std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held = calls_.write(endpoint_, source, bytes, source_descriptor_, peer_,
                                             window_place_ + offset, window_key_, &operation)) {
      try_again(held);
    }
  }
  void get(std::byte* sink, std::size_t bytes, std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held = calls_.read(endpoint_, sink, bytes, sink_descriptor_, peer_,
                                            window_place_ + offset, window_key_, &operation)) {
      try_again(held);
    }
  }
  void flush() { settle(accesses_left_); }

  void reserve(int slots);
  /// Where messages come from and go to: registered when the provider asks for that.
  void use_memory(std::span<const std::byte> source, std::span<std::byte> sink);
  std::byte* expose(WindowKind kind, std::size_t bytes);
  void synchronise_window() { progress(); }
  void conceal();
  void send_control(std::span<const std::byte> message);
  void recv_control(std::span<std::byte> message);

 private:
  static constexpr std::size_t kAccesses = 2048;  // at least two of the largest windows
  static constexpr std::size_t kEntries = 16;

  struct Calls {
    decltype(abi::TaggedCalls::send) send = nullptr;
    decltype(abi::TaggedCalls::receive) receive = nullptr;
    decltype(abi::TaggedCalls::inject) inject = nullptr;
    decltype(abi::RemoteCalls::read) read = nullptr;
    decltype(abi::RemoteCalls::write) write = nullptr;
    decltype(abi::QueueCalls::read) completions = nullptr;
  };

  [[gnu::always_inline]] void inject(const std::byte* source, std::size_t bytes) {
    while (const ssize_t held = messages_.inject(endpoint_, source, bytes, peer_)) try_again(held);
  }
  [[gnu::always_inline]] void start_send(Operation& operation, const std::byte* source,
                                         std::size_t bytes) {
    ++*operation.under_way;
    while (const ssize_t held =
               messages_.send(endpoint_, source, bytes, source_descriptor_, peer_, operation)) {
      try_again(held);
    }
  }
  [[gnu::always_inline]] void start_receive(Operation& operation, std::byte* sink,
                                            std::size_t bytes) {
    ++*operation.under_way;
    while (const ssize_t held =
               messages_.receive(endpoint_, sink, bytes, sink_descriptor_, operation)) {
      try_again(held);
    }
  }
  [[gnu::always_inline]] Operation& next_access() {
    Operation& operation = accesses_[next_access_];
    next_access_ = (next_access_ + 1) % kAccesses;
    ++accesses_left_;
    return operation;
  }
  /// Until `left` is 0; every look lets the provider work.
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
  /// The provider has no room: it makes some while it is looked at.
  [[gnu::always_inline]] void try_again(ssize_t held) {
    if (held != -abi::kAgain) [[unlikely]]
      lost(held);
    progress();
  }
  /// Never returns: what the provider says of the operation that failed.
  [[gnu::cold, gnu::noinline, noreturn]] void lost(ssize_t result) const;

  void settle_patiently(const std::uint32_t& left);
  void start_control_send(std::span<const std::byte> message);
  void start_control_receive(std::size_t bytes);
  void swap_control(std::span<const std::byte> own, std::span<std::byte> theirs);

  abi::Endpoint* endpoint_;
  abi::Queue* queue_;
  Messages messages_;
  Calls calls_;
  abi::Address peer_;
  std::uint64_t acknowledge_tag_;
  std::uint64_t awaited_ack_tag_;
  std::size_t inject_bytes_;
  std::byte empty_{};  // where a message of 0 bytes points to
  void* source_descriptor_ = nullptr;
  void* sink_descriptor_ = nullptr;
  Operation* slots_ = nullptr;  // into slot_storage_
  Operation* accesses_ = nullptr;
  std::size_t next_access_ = 0;
  std::uint64_t window_place_ = 0;  // the peer's
  std::uint64_t window_key_ = 0;
  std::uint32_t sending_left_ = 0;
  std::uint32_t receiving_left_ = 0;
  std::uint32_t accesses_left_ = 0;
  Operation sending_{};
  Operation receiving_{};

  // Untimed from here on.
  Endpoint* owner_;
  Ends ends_;
  std::vector<Operation> slot_storage_;
  std::vector<std::uint32_t> slots_left_;
  std::vector<Operation> access_storage_;
  PageBuffer window_;
  Registration window_registration_;
  Registration source_registration_;
  Registration sink_registration_;
  PageBuffer control_;
  std::byte* control_out_ = nullptr;  // into control_
  std::byte* control_in_ = nullptr;
  Registration control_registration_;
  void* control_descriptor_ = nullptr;
};

}  // namespace wireproof::ofi
