// One end of a pair over three TCP connections: data, acknowledgements, control. Three connections,
// because a byte stream has one order and a Link guarantees none between a message and an
// acknowledgement.
//
// Bytes are sent without framing, because both ends know every size. A message of 0 bytes is sent
// as one byte, because a stream cannot carry an empty message and a ping-pong must cross.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

class TcpLink {
 public:
  static constexpr bool kOneSided = false;

  struct Connections {
    Socket data;
    Socket acknowledgement;
    Socket control;
  };
  /// `peer` names the other end in errors; if there is no progress for `stall_ms`, the call ends
  /// with Failure "tcp-stalled".
  TcpLink(Connections connections, std::string peer, std::int64_t stall_ms);

  void send(const std::byte* source, std::size_t bytes);
  void recv(std::byte* sink, std::size_t bytes);
  void post_send(int slot, const std::byte* source, std::size_t bytes);
  void post_recv(int slot, std::byte* sink, std::size_t bytes);
  void wait(int first, int count);
  void send_ack();
  void recv_ack();

  [[noreturn]] void put(const std::byte* source, std::size_t bytes, std::size_t offset);
  [[noreturn]] void get(std::byte* sink, std::size_t bytes, std::size_t offset);
  [[noreturn]] void flush();
  [[noreturn]] std::byte* expose(WindowKind kind, std::size_t bytes);
  [[noreturn]] void synchronise_window();
  [[noreturn]] void conceal();

  void reserve(int slots);
  void send_control(std::span<const std::byte> message);
  void recv_control(std::span<std::byte> message);

 private:
  /// Transfers of one direction, in the order in which they were posted.
  class Queue {
   public:
    struct Item {
      std::byte* at = nullptr;
      std::size_t left = 0;
      int slot = 0;
    };
    void reserve(std::size_t slots) { items_.resize(slots); }
    bool empty() const { return count_ == 0; }
    Item& head() { return items_[first_]; }
    void push(const Item& item) {
      std::size_t place = first_ + count_++;
      if (place >= items_.size()) place -= items_.size();
      items_[place] = item;
    }
    void pop() {
      if (++first_ == items_.size()) first_ = 0;
      --count_;
    }

   private:
    std::vector<Item> items_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  enum class Awaited { nothing, room, data, acknowledgement };

  /// Spins while the reply is likely to arrive soon, then sleeps in poll.
  class Patience;

  bool progress();       // moves what the kernel accepts and delivers without waiting
  bool push_outgoing();  // true when bytes moved
  bool pull_incoming();
  std::size_t try_send(const std::byte* source, std::size_t bytes);
  std::size_t try_recv(const Socket& socket, std::byte* sink, std::size_t bytes);
  void sleep(Awaited own, std::int64_t since_ns);
  [[noreturn]] void fail(const std::string& code, const std::string& what) const;
  [[noreturn]] void unsupported() const;

  Connections connections_;
  std::string peer_;
  std::int64_t stall_ns_;
  Queue outgoing_;
  Queue incoming_;
  std::vector<std::uint8_t> busy_;  // by slot
  std::byte empty_message_{};       // the byte that represents a message of 0 bytes
};

}  // namespace wireproof::tcp
