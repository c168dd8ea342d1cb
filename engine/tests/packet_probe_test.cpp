// A process whose connections are healthy sends nothing and loses no time. What drops large packets
// is tried in the lab (tests/lab/test_tcp_nic.py).
#include "base/packet_probe.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace wireproof {
namespace {

TEST(PacketProbe, AConnectionWhoseReaderSleepsIsNotStuck) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* address = reinterpret_cast<sockaddr*>(&here);
  ASSERT_EQ(::bind(listener, address, size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, address, &size), 0);
  const int sender = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  ::connect(sender, address, size);
  const int reader = ::accept(listener, nullptr, nullptr);
  const char zeros[65536] = {};
  while (::send(sender, zeros, sizeof zeros, MSG_NOSIGNAL) > 0) continue;

  PacketProbe probe;
  const std::int64_t begin_ns = monotonic_ns();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(probe.look());
  EXPECT_LT(monotonic_ns() - begin_ns, 1'000'000'000);
  EXPECT_EQ(probe.passed(), 0);
  for (const int descriptor : {listener, sender, reader}) ::close(descriptor);
}

}  // namespace
}  // namespace wireproof
