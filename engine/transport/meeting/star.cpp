#include "transport/meeting/star.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/failure.hpp"

namespace wireproof::tcp {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostNamed = 8;

std::string rank_name(std::size_t rank) { return "rank " + std::to_string(rank); }

[[noreturn]] void lost(std::size_t rank, const std::string& why) {
  throw cannot_measure("tcp-lost", rank_name(rank) + " " + why);
}

/// The number of bytes that a call moved; throws if the connection is broken or at its end.
std::size_t moved(std::size_t rank, ssize_t result) {
  if (result > 0) return static_cast<std::size_t>(result);
  if (result == 0) lost(rank, sentence(Transfer::closed));
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  lost(rank, sentence(Transfer::failed));
}

/// The data that one rank still has to send.
class Inbox {
 public:
  /// `bytes` 0: a length comes first.
  explicit Inbox(std::size_t bytes)
      : framed_(bytes == 0), text_(bytes == 0 ? kLengthBytes : bytes, '\0') {}

  bool done() const { return !framed_ && filled_ == text_.size(); }
  std::size_t move(std::size_t rank, const Socket& socket) {
    const ssize_t got =
        ::recv(socket.descriptor(), text_.data() + filled_, text_.size() - filled_, MSG_DONTWAIT);
    const std::size_t bytes = moved(rank, got);
    filled_ += bytes;
    if (framed_ && filled_ == kLengthBytes) begin_text(rank);
    return bytes;
  }
  std::string take() { return std::move(text_); }

 private:
  void begin_text(std::size_t rank) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
      length |= std::uint64_t{static_cast<unsigned char>(text_[i])} << (8 * i);
    }
    if (length > kLongestText) {
      throw cannot_measure("tcp-garbled", rank_name(rank) + " sent no text");
    }
    framed_ = false;
    filled_ = 0;
    text_.assign(length, '\0');
  }

  bool framed_;
  std::string text_;
  std::size_t filled_ = 0;
};

/// The data that one rank still has to receive.
class Outbox {
 public:
  explicit Outbox(std::string_view bytes) : left_(bytes) {}
  bool done() const { return left_.empty(); }
  std::size_t move(std::size_t rank, const Socket& socket) {
    const std::size_t bytes = moved(
        rank, ::send(socket.descriptor(), left_.data(), left_.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    left_.remove_prefix(bytes);
    return bytes;
  }

 private:
  std::string_view left_;
};

template <class C>
std::string names_of_missing(const std::vector<C>& channels) {
  std::string names;
  std::size_t count = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (channels[i].done() || ++count > kMostNamed) continue;
    names += (names.empty() ? "" : ", ") + std::to_string(i + 1);
  }
  if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
  return (count == 1 ? "rank " : "ranks ") + names;
}

/// Serves channels[i] with star[i + 1] until all are done.
template <class C>
void serve(const Star& star, std::vector<C>& channels, short events, std::int64_t patience_ms) {
  Deadline deadline = deadline_in_ms(patience_ms);
  std::vector<pollfd> waits(channels.size());
  std::size_t open = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const bool idle = channels[i].done();
    waits[i] = {idle ? -1 : star[i + 1].descriptor(), events, 0};  // poll skips negative ones
    open += idle ? 0 : 1;
  }
  while (open > 0) {
    const std::int64_t left_ms = (deadline - monotonic_ns()) / 1'000'000 + 1;
    const int ready = ::poll(waits.data(), waits.size(),
                             static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000)));
    for (std::size_t i = 0; ready > 0 && i < channels.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      if (channels[i].move(i + 1, star[i + 1]) > 0) deadline = deadline_in_ms(patience_ms);
      if (!channels[i].done()) continue;
      waits[i].fd = -1;
      --open;
    }
    if (open > 0 && monotonic_ns() >= deadline) {
      throw cannot_measure("tcp-lost", names_of_missing(channels) + " " + sentence(Transfer::late));
    }
  }
}

std::vector<std::string> receive(const Star& star, std::size_t bytes, std::int64_t patience_ms) {
  std::vector<Inbox> inboxes(star.size() - 1, Inbox(bytes));
  serve(star, inboxes, POLLIN, patience_ms);
  std::vector<std::string> texts(1);
  for (Inbox& inbox : inboxes) texts.push_back(inbox.take());
  return texts;
}

}  // namespace

std::vector<std::string> receive_texts(const Star& star, std::int64_t patience_ms) {
  return receive(star, 0, patience_ms);
}

std::vector<std::string> receive_bytes(const Star& star, std::size_t bytes,
                                       std::int64_t patience_ms) {
  return receive(star, bytes, patience_ms);
}

void send_to_all(const Star& star, std::string_view bytes, std::int64_t patience_ms) {
  std::vector<Outbox> outboxes(star.size() - 1, Outbox(bytes));
  serve(star, outboxes, POLLOUT, patience_ms);
}

}  // namespace wireproof::tcp
