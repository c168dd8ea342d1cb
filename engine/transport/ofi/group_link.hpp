// One member of a group over a libfabric endpoint: messages, and a barrier made of them. Library
// collectives need an MPI.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transport/ofi/traffic.hpp"

namespace wireproof::ofi {

template <class Messages>
class OfiGroupLink : private Traffic<Messages> {
 public:
  /// `peers`: by member, including this one.
  OfiGroupLink(Endpoint& endpoint, int member, std::vector<Peer> peers);

  int member() const { return self_; }
  int members() const { return members_; }

  void send(int to, const std::byte* source, std::size_t bytes) {
    this->send_to(peers_[to], source, bytes);
  }
  void recv(int from, std::byte* sink, std::size_t bytes) {
    this->receive_from(peers_[from], sink, bytes);
  }
  void sendrecv(int to, const std::byte* source, int from, std::byte* sink, std::size_t bytes) {
    this->swap_with(peers_[to], source, peers_[from], sink, bytes);
  }
  void post_send(int slot, int to, const std::byte* source, std::size_t bytes) {
    this->post_send_to(slot, peers_[to], source, bytes);
  }
  void post_recv(int slot, int from, std::byte* sink, std::size_t bytes) {
    this->post_receive_from(slot, peers_[from], sink, bytes);
  }
  using Traffic<Messages>::wait;
  void send_ack(int to) { this->signal(Kind::acknowledgement, peers_[to]); }
  void recv_ack(int from) { this->await_signal(Kind::acknowledgement, peers_[from]); }
  void expect_ack(int slot, int from) {
    this->expect_signal(this->slots_[slot], Kind::acknowledgement, peers_[from]);
  }
  bool has_come(int slot) {
    this->progress();
    return *this->slots_[slot].under_way == 0;
  }

  /// Dissemination (Hensgen, Finkel and Manber 1988): after round k each member has heard, through
  /// others, from the 2^k members before it.
  void barrier() {
    for (int distance = 1; distance < members_; distance *= 2) {
      const int to = self_ + distance;
      const int from = self_ - distance;
      this->signal(Kind::barrier, peers_[to < members_ ? to : to - members_]);
      this->await_signal(Kind::barrier, peers_[from < 0 ? from + members_ : from]);
    }
  }

  using Traffic<Messages>::reserve;
  using Traffic<Messages>::use_memory;
  void send_control(int to, std::span<const std::byte> message) {
    this->send_control_to(peers_[to], message);
  }
  void recv_control(int from, std::span<std::byte> message) {
    this->receive_control_from(peers_[from], message);
  }

 private:
  int self_;
  int members_;
  const Peer* peers_;  // into peer_storage_
  std::vector<Peer> peer_storage_;
};

}  // namespace wireproof::ofi
