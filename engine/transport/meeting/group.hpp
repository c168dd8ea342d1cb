// The control plane: every rank has one connection to rank 0. All waits sleep in poll.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/concept.hpp"
#include "transport/meeting/handshake.hpp"
#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

class TcpGroup final : public Group {
 public:
  /// Brings all ranks together at `meet` within `patience_ms`; `run` is the launcher's run id ("" =
  /// none), the same on every rank. Throws Failure with the ranks that did not arrive, or the
  /// address that did not answer.
  TcpGroup(int rank, int size, const std::string& meet, const std::string& run,
           std::int64_t patience_ms);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void broadcast(std::string& text) override;
  std::vector<std::string> gather(std::string_view text) override;
  void barrier() override;

  void set_patience(std::int64_t patience_ms) override { patience_ms_ = patience_ms; }
  void set_idle(std::function<void()> idle) override { idle_ = std::move(idle); }
  /// The local address on the connection to rank 0 (for rank 0: the address that it listened on),
  /// port 0.
  Address own_address() const { return own_address_; }

 private:
  void receive_everyone(const Address& meet, const std::string& run);
  void join(const Address& meet, const std::string& run);
  void idle_until_heard();
  void send_bytes(int to, std::span<const std::byte> bytes);
  void receive_bytes(int from, std::span<std::byte> bytes);
  void send_text(int to, std::string_view text);
  std::string receive_text(int from);

  int rank_;
  int size_;
  std::int64_t patience_ms_;
  Address own_address_;
  std::function<void()> idle_;
  std::vector<Socket> to_rank_;  // rank 0: by rank; elsewhere only [0]
};

}  // namespace wireproof::tcp
