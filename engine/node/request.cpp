#include "request.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace wireproof {
namespace {

constexpr std::uint32_t kMagic = 0x77706e31;  // "wpn1": client and supervisor have the same version
constexpr std::uint32_t kMaxPayload = 16U << 20;

struct Head {
  std::uint32_t magic;
  std::uint32_t payload_bytes;
  std::uint32_t arguments;
  std::uint32_t variables;
  Inheritance inheritance;
};

void put(std::string& payload, const std::string& text) {
  payload += text;
  payload += '\0';
}

std::string take(const std::string& payload, std::size_t& position) {
  const std::size_t end = payload.find('\0', position);
  if (end == std::string::npos) throw Failure("a request was cut short");
  std::string text = payload.substr(position, end - position);
  position = end + 1;
  return text;
}

void send_all(const Fd& peer, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(peer.get(), data, size, MSG_NOSIGNAL);
    if (sent <= 0) fail_errno("send to the lab's supervisor");
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

bool receive_all(const Fd& peer, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t got = recv(peer.get(), data, size, 0);
    if (got <= 0) return false;
    data += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

constexpr std::size_t kStreamBytes = 3 * sizeof(int);

// The head is sent with the three streams, because ancillary data needs at least one byte of data.
void send_head(const Fd& peer, const Head& head, const std::array<Fd, 3>& streams) {
  alignas(cmsghdr) char control[CMSG_SPACE(kStreamBytes)] = {};
  const int numbers[3] = {streams[0].get(), streams[1].get(), streams[2].get()};
  iovec piece{const_cast<Head*>(&head), sizeof head};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(kStreamBytes);
  std::memcpy(CMSG_DATA(item), numbers, kStreamBytes);
  if (sendmsg(peer.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof head)) {
    fail_errno("send a request to the lab's supervisor");
  }
}

Head receive_head(const Fd& peer, std::array<Fd, 3>& streams) {
  Head head{};
  alignas(cmsghdr) char control[CMSG_SPACE(kStreamBytes)] = {};
  iovec piece{&head, sizeof head};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(peer.get(), &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  const cmsghdr* item = CMSG_FIRSTHDR(&message);
  if (got != static_cast<ssize_t>(sizeof head) || head.magic != kMagic || item == nullptr ||
      item->cmsg_type != SCM_RIGHTS || item->cmsg_len != CMSG_LEN(kStreamBytes)) {
    throw Failure(
        "the request is not of this wireproof-node's version: bring the lab down and up again");
  }
  int numbers[3];
  std::memcpy(numbers, CMSG_DATA(item), kStreamBytes);
  for (std::size_t i = 0; i < 3; ++i) streams[i] = Fd(numbers[i]);
  return head;
}

}  // namespace

Inheritance current_inheritance() {
  Inheritance found{};
  found.file_mask = umask(0);
  umask(found.file_mask);
  sched_getaffinity(0, sizeof found.processors, &found.processors);
  for (int kind = 0; kind < static_cast<int>(RLIM_NLIMITS); ++kind) {
    getrlimit(static_cast<__rlimit_resource>(kind), &found.limits[static_cast<std::size_t>(kind)]);
  }
  return found;
}

void take_on(const Inheritance& inheritance) {
  umask(inheritance.file_mask);
  sched_setaffinity(0, sizeof inheritance.processors, &inheritance.processors);
  for (int kind = 0; kind < static_cast<int>(RLIM_NLIMITS); ++kind) {
    setrlimit(static_cast<__rlimit_resource>(kind),
              &inheritance.limits[static_cast<std::size_t>(kind)]);
  }
}

void send_request(const Fd& peer, const Request& request) {
  std::string payload;
  put(payload, request.node);
  put(payload, request.directory);
  for (const std::string& argument : request.arguments) put(payload, argument);
  for (const std::string& variable : request.environment) put(payload, variable);
  if (payload.size() > kMaxPayload)
    throw Failure("arguments and environment are larger than 16 MiB");
  Head head{};
  head.magic = kMagic;
  head.payload_bytes = static_cast<std::uint32_t>(payload.size());
  head.arguments = static_cast<std::uint32_t>(request.arguments.size());
  head.variables = static_cast<std::uint32_t>(request.environment.size());
  head.inheritance = request.inheritance;
  send_head(peer, head, request.streams);
  send_all(peer, payload.data(), payload.size());
}

Request receive_request(const Fd& peer) {
  Request request;
  const Head head = receive_head(peer, request.streams);
  if (head.payload_bytes > kMaxPayload) throw Failure("the request is too large");
  std::string payload(head.payload_bytes, '\0');
  if (!receive_all(peer, payload.data(), payload.size())) throw Failure("a request was cut short");
  std::size_t position = 0;
  request.node = take(payload, position);
  request.directory = take(payload, position);
  for (std::uint32_t i = 0; i < head.arguments; ++i) {
    request.arguments.push_back(take(payload, position));
  }
  for (std::uint32_t i = 0; i < head.variables; ++i) {
    request.environment.push_back(take(payload, position));
  }
  request.inheritance = head.inheritance;
  if (request.arguments.empty()) throw Failure("the request has no command");
  return request;
}

void send_message(const Fd& peer, Tag tag, const std::string& text) {
  std::string bytes(1, static_cast<char>(tag));
  const auto size = static_cast<std::uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += text;
  send_all(peer, bytes.data(), bytes.size());
}

bool receive_message(const Fd& peer, Tag& tag, std::string& text) {
  char kind = 0;
  std::uint32_t size = 0;
  if (!receive_all(peer, &kind, 1)) return false;
  if (!receive_all(peer, reinterpret_cast<char*>(&size), sizeof size) || size > 65536) return false;
  text.assign(size, '\0');
  tag = static_cast<Tag>(kind);
  return receive_all(peer, text.data(), size);
}

}  // namespace wireproof
