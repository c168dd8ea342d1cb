#include "transport/meeting/group.hpp"

#include <poll.h>

#include <array>
#include <cstring>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "transport/binomial.hpp"
#include "transport/meeting/star.hpp"

namespace wireproof::tcp {
namespace {

constexpr std::int64_t kNapMs = 5;  // a waiting rank must not take a core from a timed pair

}  // namespace

TcpGroup::TcpGroup(int rank, int size, const std::string& meet, const std::string& run,
                   std::int64_t patience_ms)
    : rank_(rank),
      size_(size),
      patience_ms_(patience_ms),
      to_rank_(static_cast<std::size_t>(rank == 0 ? size : 1)) {
  if (rank < 0 || rank >= size) {
    throw bad_plan("rank " + std::to_string(rank) + " of " + std::to_string(size) +
                   " ranks does not exist");
  }
  if (size == 1 && meet.empty()) return;
  if (meet.empty())
    throw bad_plan("transport tcp with several ranks needs --meet ADDRESS:PORT of rank 0");
  const Address where = parse_meeting_point(meet);
  rank == 0 ? receive_everyone(where, run) : join(where, run);
}

void TcpGroup::receive_everyone(const Address& meet, const std::string& run) {
  own_address_ = with_port(meet, 0);
  Reception reception(listen_on(meet),
                      {.rank = 0, .ranks = size_, .run = run, .purposes = {Purpose::meet}});
  const Deadline deadline = deadline_in_ms(patience_ms_);
  for (int missing = size_ - 1; missing > 0;) {
    auto guest = reception.next(deadline);
    if (!guest) break;
    Socket& place = to_rank_[static_cast<std::size_t>(guest->greeting.from)];
    if (place.is_open()) {
      throw cannot_measure("tcp-twice", "rank " + std::to_string(guest->greeting.from) +
                                            " came twice: from " + place.remote().text() + " and " +
                                            guest->socket.remote().text());
    }
    place = std::move(guest->socket);
    --missing;
  }
  std::string absent;
  for (int rank = 1; rank < size_; ++rank) {
    if (!to_rank_[static_cast<std::size_t>(rank)].is_open()) absent += " " + std::to_string(rank);
  }
  if (!absent.empty()) {
    throw cannot_measure("tcp-absent", "ranks" + absent + " did not come to " + meet.text() +
                                           " within " + std::to_string(patience_ms_) + " ms (" +
                                           std::to_string(reception.turned_away()) +
                                           " strangers turned away)");
  }
}

void TcpGroup::join(const Address& meet, const std::string& run) {
  const Deadline deadline = deadline_in_ms(patience_ms_);
  to_rank_[0] = connect_to(meet, std::nullopt, deadline);
  introduce(to_rank_[0],
            {.purpose = Purpose::meet, .from = rank_, .to = 0, .ranks = size_, .run = run},
            deadline);
  own_address_ = with_port(to_rank_[0].local(), 0);
}

/// Waits until every rank that this one waits for has sent something, or until the time limit.
void TcpGroup::idle_until_heard() {
  if (!idle_) return;
  const Deadline deadline = deadline_in_ms(patience_ms_);
  for (const Socket& socket : to_rank_) {
    if (!socket.is_open()) continue;  // the place of this rank
    while (!wait_for(socket.descriptor(), POLLIN, deadline_in_ms(kNapMs))) {
      if (monotonic_ns() >= deadline) return;
      idle_();
    }
  }
}

void TcpGroup::send_bytes(int to, std::span<const std::byte> bytes) {
  const auto outcome =
      send_all(to_rank_[static_cast<std::size_t>(to)], bytes, deadline_in_ms(patience_ms_));
  if (outcome != Transfer::done)
    throw cannot_measure("tcp-lost", "rank " + std::to_string(to) + " " + sentence(outcome));
}

void TcpGroup::receive_bytes(int from, std::span<std::byte> bytes) {
  const auto outcome =
      receive_all(to_rank_[static_cast<std::size_t>(from)], bytes, deadline_in_ms(patience_ms_));
  if (outcome != Transfer::done) {
    throw cannot_measure("tcp-lost", "rank " + std::to_string(from) + " " + sentence(outcome));
  }
}

// The length in 8 bytes, least significant first, then the text.
void TcpGroup::send_text(int to, std::string_view text) {
  const std::string bundle = bundled(text);
  send_bytes(to, std::as_bytes(std::span(bundle)));
}

std::string TcpGroup::receive_text(int from) {
  std::array<std::byte, 8> wire{};
  receive_bytes(from, wire);
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < wire.size(); ++i)
    length |= std::to_integer<std::uint64_t>(wire[i]) << (8 * i);
  if (length > kLongestText)
    throw cannot_measure("tcp-garbled", "rank " + std::to_string(from) + " sent no text");
  std::string text(length, '\0');
  receive_bytes(from, std::as_writable_bytes(std::span(text)));
  return text;
}

void TcpGroup::broadcast(std::string& text) {
  if (rank_ != 0) {
    idle_until_heard();
    text = receive_text(0);
    return;
  }
  send_to_all(to_rank_, bundled(text), patience_ms_);
}

std::vector<std::string> TcpGroup::gather(std::string_view text) {
  if (rank_ != 0) {
    send_text(0, text);
    return {};
  }
  idle_until_heard();
  std::vector<std::string> all = receive_texts(to_rank_, patience_ms_);
  all[0] = text;
  return all;
}

void TcpGroup::barrier() {
  std::array<std::byte, 1> token{};
  if (rank_ != 0) {
    send_bytes(0, token);
    idle_until_heard();
    receive_bytes(0, token);
    return;
  }
  idle_until_heard();
  tcp::receive_bytes(to_rank_, token.size(), patience_ms_);
  send_to_all(to_rank_, std::string_view("\0", 1), patience_ms_);
}

}  // namespace wireproof::tcp
