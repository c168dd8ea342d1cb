#include "transport/meeting/handshake.hpp"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "base/failure.hpp"

namespace wireproof::tcp {
namespace {

// Changes whenever the meaning of the bytes on these connections changes.
constexpr std::string_view kProtocol = "wireproof-tcp-1\n";
static_assert(kProtocol.size() == 16);
constexpr std::size_t kNumbers = 4;
constexpr std::size_t kRunBytes = kGreetingBytes - 16 - kNumbers * 4;
constexpr std::int64_t kPatienceMs =
    3000;  // an expected peer sends its greeting at once; a stranger must not delay others
constexpr std::size_t kMaxPending = 4096;
constexpr std::string_view kWelcome = "welcome";

std::string_view as_text(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return {text, ::strnlen(text, bytes.size())};
}

std::array<std::byte, kAnswerBytes> answer_bytes(std::string_view text) {
  std::array<std::byte, kAnswerBytes> bytes{};
  std::memcpy(bytes.data(), text.data(), std::min(text.size(), bytes.size() - 1));
  return bytes;
}

}  // namespace

GreetingBytes encode(const Greeting& greeting) {
  if (greeting.run.size() > kRunBytes)
    throw bad_plan("run id is longer than " + std::to_string(kRunBytes) + " bytes");
  GreetingBytes bytes{};
  std::memcpy(bytes.data(), kProtocol.data(), kProtocol.size());
  const std::array<int, kNumbers> numbers = {static_cast<int>(greeting.purpose), greeting.from,
                                             greeting.to, greeting.ranks};
  std::size_t offset = kProtocol.size();
  for (const int number : numbers) {
    const std::uint32_t wire = htonl(static_cast<std::uint32_t>(number));
    std::memcpy(bytes.data() + offset, &wire, sizeof wire);
    offset += sizeof wire;
  }
  std::memcpy(bytes.data() + offset, greeting.run.data(), greeting.run.size());
  return bytes;
}

std::optional<Greeting> decode(std::span<const std::byte, kGreetingBytes> bytes) {
  if (std::memcmp(bytes.data(), kProtocol.data(), kProtocol.size()) != 0) return std::nullopt;
  std::array<int, kNumbers> numbers{};
  std::size_t offset = kProtocol.size();
  for (int& number : numbers) {
    std::uint32_t wire = 0;
    std::memcpy(&wire, bytes.data() + offset, sizeof wire);
    number = static_cast<int>(ntohl(wire));
    offset += sizeof wire;
  }
  if (numbers[0] < static_cast<int>(Purpose::meet) ||
      numbers[0] > static_cast<int>(Purpose::control))
    return std::nullopt;
  return Greeting{static_cast<Purpose>(numbers[0]), numbers[1], numbers[2], numbers[3],
                  std::string(as_text(bytes.subspan(offset)))};
}

std::optional<std::string> refusal(const Greeting& greeting, const Expectation& expectation) {
  const auto& purposes = expectation.purposes;
  if (std::find(purposes.begin(), purposes.end(), greeting.purpose) == purposes.end()) {
    return "this port is for another kind of connection";
  }
  if (greeting.run != expectation.run) return "this is another run";
  if (greeting.ranks != expectation.ranks) {
    return "this run has " + std::to_string(expectation.ranks) + " ranks, not " +
           std::to_string(greeting.ranks);
  }
  if (greeting.to != expectation.rank) return "this is rank " + std::to_string(expectation.rank);
  if (greeting.from < 0 || greeting.from >= expectation.ranks ||
      greeting.from == expectation.rank) {
    return "rank " + std::to_string(greeting.from) + " cannot join here";
  }
  return std::nullopt;
}

void introduce(const Socket& socket, const Greeting& greeting, Deadline deadline) {
  const auto bytes = encode(greeting);
  std::array<std::byte, kAnswerBytes> answer{};
  Transfer outcome = send_all(socket, bytes, deadline);
  if (outcome == Transfer::done) outcome = receive_all(socket, answer, deadline);
  const std::string who = "rank " + std::to_string(greeting.to) + " at " + socket.remote().text();
  if (outcome != Transfer::done)
    throw cannot_measure("tcp-handshake", who + " " + sentence(outcome));
  if (as_text(answer) != kWelcome) {
    throw cannot_measure("tcp-refused", who + " refused: " + std::string(as_text(answer)));
  }
}

Reception::Reception(Socket listener, Expectation expectation)
    : listener_(std::move(listener)), expectation_(std::move(expectation)) {}

void Reception::accept_all() {
  while (pending_.size() < kMaxPending) {
    Socket socket = accept_one(listener_);
    if (!socket.is_open()) return;
    pending_.push_back({std::move(socket), {}, 0, deadline_in_ms(kPatienceMs)});
  }
}

bool Reception::read_some(Pending& pending) {
  const std::size_t room = pending.bytes.size() - pending.filled;
  const ssize_t got =
      ::recv(pending.socket.descriptor(), pending.bytes.data() + pending.filled, room, 0);
  if (got < 0) return (errno == EAGAIN || errno == EINTR) && monotonic_ns() < pending.patience;
  pending.filled += static_cast<std::size_t>(got);
  return got > 0;
}

std::optional<Reception::Guest> Reception::admit(Pending& pending) {
  const auto greeting = decode(pending.bytes);
  const auto no = greeting ? refusal(*greeting, expectation_)
                           : std::optional<std::string>("not a wireproof-tcp-1 peer");
  // The answer fits in any socket buffer, so it never waits.
  send_all(pending.socket, answer_bytes(no ? std::string_view(*no) : kWelcome),
           deadline_in_ms(100));
  if (!no) return Guest{std::move(pending.socket), *greeting};
  ++turned_away_;
  return std::nullopt;
}

void Reception::sleep_until_activity(Deadline deadline) {
  std::vector<pollfd> waits = {{listener_.descriptor(), POLLIN, 0}};
  for (const Pending& pending : pending_) {
    waits.push_back({pending.socket.descriptor(), POLLIN, 0});
    deadline = std::min(deadline, pending.patience);
  }
  const std::int64_t left_ms = (deadline - monotonic_ns()) / 1'000'000 + 1;
  ::poll(waits.data(), waits.size(),
         static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000)));
}

std::optional<Reception::Guest> Reception::next(Deadline deadline) {
  for (;;) {
    accept_all();
    for (std::size_t i = 0; i < pending_.size();) {
      const bool stays = read_some(pending_[i]);
      const bool complete = pending_[i].filled == kGreetingBytes;
      if (stays && !complete) {
        ++i;
        continue;
      }
      Pending done = std::move(pending_[i]);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      if (!complete) ++turned_away_;
      if (complete) {
        if (auto guest = admit(done)) return guest;
      }
    }
    if (monotonic_ns() >= deadline) return std::nullopt;
    sleep_until_activity(deadline);
  }
}

}  // namespace wireproof::tcp
