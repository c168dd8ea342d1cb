// One end of one pair over a libfabric endpoint: messages, and the peer's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pattern/page_buffer.hpp"
#include "plan/plan.hpp"
#include "transport/ofi/traffic.hpp"

namespace wireproof::ofi {

struct Ends {
  int self = 0;
  Peer peer;
};

template <class Messages>
class OfiLink : protected Traffic<Messages> {
 public:
  static constexpr bool kOneSided = true;

  OfiLink(Endpoint& endpoint, Ends ends);

  void send(const std::byte* source, std::size_t bytes) { this->send_to(peer_, source, bytes); }
  void recv(std::byte* sink, std::size_t bytes) { this->receive_from(peer_, sink, bytes); }
  void post_send(int slot, const std::byte* source, std::size_t bytes) {
    this->post_send_to(slot, peer_, source, bytes);
  }
  void post_recv(int slot, std::byte* sink, std::size_t bytes) {
    this->post_receive_from(slot, peer_, sink, bytes);
  }
  using Traffic<Messages>::wait;
  void send_ack() { this->signal(Kind::acknowledgement, peer_); }
  void recv_ack() { this->await_signal(Kind::acknowledgement, peer_); }

  void put(const std::byte* source, std::size_t bytes, std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held =
               calls_.write(this->endpoint_, source, bytes, this->source_descriptor_, peer_.address,
                            window_place_ + offset, window_key_, &operation)) {
      this->try_again(held);
    }
  }
  void get(std::byte* sink, std::size_t bytes, std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held =
               calls_.read(this->endpoint_, sink, bytes, this->sink_descriptor_, peer_.address,
                           window_place_ + offset, window_key_, &operation)) {
      this->try_again(held);
    }
  }
  void accumulate(const std::byte* addends, std::size_t bytes, std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held =
               calls_.add(this->endpoint_, addends, bytes / kWordBytes, this->source_descriptor_,
                          peer_.address, window_place_ + offset, window_key_, abi::Number::uint64,
                          abi::Operation::sum, &operation)) {
      this->try_again(held);
    }
  }
  void fetch_add(const std::byte* operand, std::byte* result, std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held =
               calls_.fetch(this->endpoint_, operand, 1, this->source_descriptor_, result,
                            this->sink_descriptor_, peer_.address, window_place_ + offset,
                            window_key_, abi::Number::uint64, abi::Operation::sum, &operation)) {
      this->try_again(held);
    }
  }
  void compare_swap(const std::byte* operand, const std::byte* compare, std::byte* result,
                    std::size_t offset) {
    Operation& operation = next_access();
    while (const ssize_t held =
               calls_.compare(this->endpoint_, operand, 1, this->source_descriptor_, compare,
                              this->source_descriptor_, result, this->sink_descriptor_,
                              peer_.address, window_place_ + offset, window_key_,
                              abi::Number::uint64, abi::Operation::compare_swap, &operation)) {
      this->try_again(held);
    }
  }
  void flush() { this->settle(accesses_left_); }

  using Traffic<Messages>::reserve;
  using Traffic<Messages>::use_memory;
  std::byte* expose(WindowKind kind, std::size_t bytes);
  void synchronise_window() { this->progress(); }
  void conceal();
  void send_control(std::span<const std::byte> message) { this->send_control_to(peer_, message); }
  void recv_control(std::span<std::byte> message) { this->receive_control_from(peer_, message); }

 protected:
  static constexpr std::size_t kAccesses = 2048;  // at least two of the largest windows
  static constexpr std::size_t kWordBytes = 8;

  struct Calls {
    decltype(abi::RemoteCalls::read) read = nullptr;
    decltype(abi::RemoteCalls::write) write = nullptr;
    decltype(abi::AtomicCalls::write) add = nullptr;
    decltype(abi::AtomicCalls::fetch) fetch = nullptr;
    decltype(abi::AtomicCalls::compare) compare = nullptr;
  };

  [[gnu::always_inline]] Operation& next_access() {
    Operation& operation = accesses_[next_access_];
    next_access_ = (next_access_ + 1) % kAccesses;
    ++accesses_left_;
    return operation;
  }

  Peer peer_;
  Calls calls_;
  Operation* accesses_ = nullptr;
  std::size_t next_access_ = 0;
  std::uint64_t window_place_ = 0;  // the peer's
  std::uint64_t window_key_ = 0;
  std::uint32_t accesses_left_ = 0;

  // Untimed from here on.
  std::vector<Operation> access_storage_;
  PageBuffer window_;
  Registration window_registration_;
};

/// Tagged messages, and a remote write counts as complete when a later read has returned: for
/// providers that do not complete at delivery.
struct ReadingBack {};

template <>
class OfiLink<ReadingBack> : public OfiLink<Tagged> {
 public:
  /// The link whose loops over messages it uses, so that they are not compiled again.
  using MessageLink = OfiLink<Tagged>;

  OfiLink(Endpoint& endpoint, Ends ends);

  void put(const std::byte* source, std::size_t bytes, std::size_t offset) {
    written_ = 1;
    OfiLink<Tagged>::put(source, bytes, offset);
  }
  void accumulate(const std::byte* addends, std::size_t bytes, std::size_t offset) {
    written_ = 1;
    OfiLink<Tagged>::accumulate(addends, bytes, offset);
  }
  void flush() {
    OfiLink<Tagged>::flush();
    read_back();
  }

 private:
  /// One read for all writes since the last flush, because it is ordered behind them.
  [[gnu::always_inline]] void read_back() {
    for (; written_ != 0; written_ = 0) {
      Operation& operation = next_access();
      while (const ssize_t held =
                 calls_.read(endpoint_, echo_, kWordBytes, echo_descriptor_, peer_.address,
                             window_place_, window_key_, &operation)) {
        try_again(held);
      }
      settle(accesses_left_);
    }
  }

  std::uint32_t written_ = 0;  // 1: something since the last flush
  std::byte* echo_ = nullptr;  // target of a read-back
  void* echo_descriptor_ = nullptr;
  PageBuffer echo_memory_;
  Registration echo_registration_;
};

}  // namespace wireproof::ofi
