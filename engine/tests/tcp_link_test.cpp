// The tcp transport on loopback: links under pressure, whole pairs.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <filesystem>
#include <future>
#include <thread>

#include "pattern/runner.hpp"
#include "tests/tcp_meeting.hpp"
#include "transport/openers.hpp"
#include "transport/tcp/link.hpp"

namespace wireproof::tcp {
namespace {

struct LinkedEnds {
  std::unique_ptr<TcpLink> one;
  std::unique_ptr<TcpLink> other;
};

LinkedEnds link_ends(std::int64_t stall_ms = 20'000) {
  const Socket listener = listen_on(numeric_address("127.0.0.1", 0, "test"));
  const auto connected = [&](Socket& accepted) {
    Socket socket = connect_to(listener.local(), std::nullopt, deadline_in_ms(5000));
    wait_for(listener.descriptor(), POLLIN, deadline_in_ms(5000));
    accepted = accept_one(listener);
    return socket;
  };
  TcpLink::Connections mine;
  TcpLink::Connections theirs;
  mine.data = connected(theirs.data);
  mine.acknowledgement = connected(theirs.acknowledgement);
  mine.control = connected(theirs.control);
  return {std::make_unique<TcpLink>(std::move(mine), "rank 1", stall_ms),
          std::make_unique<TcpLink>(std::move(theirs), "rank 0", stall_ms)};
}

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 5);
  return data;
}

class TcpLinkSizes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(TcpLinkSizes, PingPongKeepsItsPayload) {
  LinkedEnds ends = link_ends();
  const auto there = pattern(GetParam(), 1);
  std::vector<std::byte> echo(GetParam() + 1);
  std::thread answering([&] {
    std::vector<std::byte> sink(GetParam() + 1);
    for (int i = 0; i < 5; ++i) {
      ends.other->recv(sink.data(), GetParam());
      ends.other->send(sink.data(), GetParam());
    }
  });
  for (int i = 0; i < 5; ++i) {
    ends.one->send(there.data(), GetParam());
    ends.one->recv(echo.data(), GetParam());
  }
  answering.join();
  echo.pop_back();
  EXPECT_EQ(echo, there);
}

INSTANTIATE_TEST_SUITE_P(Bytes, TcpLinkSizes,
                         ::testing::Values(0, 1, 8, 65536, 1 << 20, 9'000'001));

TEST(TcpLink, LargeExchangeDoesNotDeadlock) {
  constexpr std::size_t kBytes = 24 << 20;  // far above both socket buffers
  LinkedEnds ends = link_ends();
  const auto cross = [&](TcpLink& link, unsigned seed, std::vector<std::byte>& sink) {
    const auto source = pattern(kBytes, seed);
    sink.resize(kBytes);
    link.reserve(4);
    link.post_send(0, source.data(), kBytes);  // sends first: both ends fill the other's buffers
    link.post_recv(1, sink.data(), kBytes);
    link.wait(0, 2);
  };
  std::vector<std::byte> at_one;
  std::vector<std::byte> at_other;
  std::thread other([&] { cross(*ends.other, 7, at_other); });
  cross(*ends.one, 9, at_one);
  other.join();
  EXPECT_EQ(at_one, pattern(kBytes, 7));
  EXPECT_EQ(at_other, pattern(kBytes, 9));
}

TEST(TcpLink, WindowArrivesInOrderAndIsAcknowledged) {
  constexpr int kWindow = 64;
  LinkedEnds ends = link_ends();
  const auto source = pattern(kWindow * 1000, 3);
  std::vector<std::byte> sink(kWindow * 1000);
  std::thread receiving([&] {
    ends.other->reserve(kWindow);
    for (int i = 0; i < kWindow; ++i)
      ends.other->post_recv(i, &sink[static_cast<std::size_t>(i) * 1000], 1000);
    ends.other->wait(0, kWindow);
    ends.other->send_ack();
  });
  ends.one->reserve(kWindow);
  for (int i = 0; i < kWindow; ++i)
    ends.one->post_send(i, &source[static_cast<std::size_t>(i) * 1000], 1000);
  ends.one->wait(0, kWindow);
  ends.one->recv_ack();
  receiving.join();
  EXPECT_EQ(sink, source);
}

TEST(TcpLink, ControlIsApartFromData) {
  LinkedEnds ends = link_ends();
  const auto word = pattern(16, 5);
  const std::byte payload{42};
  ends.one->send(&payload, 1);
  ends.one->send_ack();
  ends.one->send_control(word);
  std::vector<std::byte> heard(16);
  ends.other->recv_control(heard);
  ends.other->recv_ack();
  std::byte got{};
  ends.other->recv(&got, 1);
  EXPECT_EQ(heard, word);
  EXPECT_EQ(got, payload);
}

TEST(TcpLink, PeerThatLeavesIsNamed) {
  LinkedEnds ends = link_ends();
  ends.other.reset();
  std::byte sink{};
  EXPECT_NE(message_of([&] { ends.one->recv(&sink, 1); }).find("rank 1 closed the connection"),
            std::string::npos);
  EXPECT_NE(message_of([&] { ends.one->recv_ack(); }), "");
  EXPECT_NE(message_of([&] { ends.one->recv_control({&sink, 1}); }), "");
  EXPECT_NE(message_of([&] {
              for (int i = 0; i < 100; ++i) ends.one->send(&sink, 1);
            }),
            "");
}

TEST(TcpLink, SilentPeerEndsInAnErrorNotAHang) {
  LinkedEnds ends = link_ends(/*stall_ms=*/200);
  std::byte sink{};
  EXPECT_NE(message_of([&] { ends.one->recv(&sink, 1); }).find("moved no byte for 200 ms"),
            std::string::npos);
  EXPECT_NE(message_of([&] { ends.one->recv_control({&sink, 1}); }), "");
  const std::vector<std::byte> large(64 << 20);
  EXPECT_NE(message_of([&] { ends.one->send(large.data(), large.size()); }).find("tcp-stalled"),
            std::string::npos);
}

TEST(TcpLink, RemoteAccessIsUnsupported) {
  LinkedEnds ends = link_ends();
  EXPECT_EQ(message_of([&] { ends.one->flush(); }).substr(0, 11), "unsupported");
}

Plan plan_of(const std::string& points) {
  return parse_plan(
      "wireproof-plan 1\nrun id=test\ntransport kind=tcp\nrank index=0 host=a address=127.0.0.1\n"
      "rank index=1 host=b\n" +
      points);
}

TEST(TcpTransport, RefusesRemoteAccessBeforeAnythingRuns) {
  OpenRequest request;
  const auto transport = open_tcp(request);
  const Plan plan = plan_of("point id=1 pattern=put message_bytes=8 pairs=0-1\n");
  EXPECT_EQ(message_of([&] { transport->configure(plan); }).substr(0, 11), "unsupported");
  EXPECT_EQ(transport->library().version.substr(0, 10), "kernel TCP");
  EXPECT_FALSE(transport->one_sided());
}

TEST(TcpTransport, TroubleOfOneRankIsToldByAll) {
  const std::string meet = free_meeting_point();
  const Plan plan = parse_plan(
      "wireproof-plan 1\ntransport kind=tcp\nrank index=0 host=a address=127.0.0.1\n"
      "rank index=1 host=b address=192.0.2.77\n");
  const auto member = [&](int rank) {
    OpenRequest request;
    request.rank = rank;
    request.ranks = 2;
    request.meet = meet;
    const auto transport = open_tcp(request);
    const std::string message = message_of([&] { transport->configure(plan); });
    transport->group().barrier();  // the control plane is still in step
    return message;
  };
  auto other = std::async(std::launch::async, member, 1);
  const std::string message = member(0);
  EXPECT_NE(message.find("tcp-listen: rank 1: cannot listen on 192.0.2.77"), std::string::npos)
      << message;
  EXPECT_EQ(other.get(), message);
}

TEST(TcpTransport, AddressThatIsNotOursIsRefused) {
  OpenRequest request;
  const auto transport = open_tcp(request);
  const Plan plan =
      parse_plan("wireproof-plan 1\ntransport kind=tcp\nrank index=0 host=a address=192.0.2.77\n");
  EXPECT_NE(message_of([&] { transport->configure(plan); }).find("192.0.2.77"), std::string::npos);
}

/// One pattern from rank 0 to rank 1 and back; whether this rank saw every payload arrive.
bool runs_both_ways(Transport& transport, const HostClock& clock, Pattern kind) {
  const PointShape shape{.pattern = kind,
                         .form = kind == Pattern::pingpong ? Form::latency : Form::stream,
                         .formula = Formula::robust,
                         .bytes = 40'000,
                         .window = 16,
                         .window_kind = WindowKind::allocate};
  const Segment segment{.lead_in = 1, .batches = 3, .granules = 2, .trail = 1};
  bool good = true;
  const PairRoles roles{.originate =
                            [&](Pair& pair) {
                              std::array<Ticks, 4> ticks{};
                              const auto runner = pair.make_runner(shape);
                              runner->originate(segment, ticks);
                              good = runner->verify_origin(11) && good;
                              good = ticks[0] > 0 && good;
                            },
                        .answer =
                            [&](Pair& pair) {
                              const auto runner = pair.make_runner(shape);
                              runner->answer(segment);
                              good = runner->verify_target(11) && good;
                            }};
  transport.run_pair(0, 1, clock, roles);
  transport.run_pair(1, 0, clock, roles);
  return good;
}

// Both directions over one kept pair, with the patterns that the engine runs.
TEST(TcpTransport, RunsAPairBothWays) {
  const std::string meet = free_meeting_point();
  const HostClock clock;
  const auto member = [&](int rank) {
    OpenRequest request;
    request.rank = rank;
    request.ranks = 2;
    request.meet = meet;
    const auto transport = open_tcp(request);
    transport->configure(plan_of(""));
    bool good = true;
    for (const auto kind : {Pattern::pingpong, Pattern::stream, Pattern::exchange}) {
      good = runs_both_ways(*transport, clock, kind) && good;
    }
    transport->close();
    return good;
  };
  auto other = std::async(std::launch::async, member, 1);
  EXPECT_TRUE(member(0));
  EXPECT_TRUE(other.get());
}

std::size_t open_descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(TcpTransport, ForgottenPairsLeaveNoConnectionAndCanBeMadeAgain) {
  const std::string meet = free_meeting_point();
  const HostClock clock;
  std::size_t before = 0;
  std::size_t after = 0;
  const auto member = [&](int rank) {
    OpenRequest request;
    request.rank = rank;
    request.ranks = 2;
    request.meet = meet;
    const auto transport = open_tcp(request);
    transport->configure(plan_of(""));
    const auto descriptors = [&](std::size_t& count) {
      transport->group().barrier();
      if (rank == 0) count = open_descriptors();
      transport->group().barrier();
    };
    descriptors(before);
    int crossed = 0;
    for (int point = 0; point < 50; ++point) {
      std::byte word{7};
      transport->run_pair(0, 1, clock,
                          {.originate = [&](Pair& pair) { pair.send_control(std::span(&word, 1)); },
                           .answer = [&](Pair& pair) { pair.recv_control(std::span(&word, 1)); }});
      crossed += static_cast<int>(word);
      transport->group().barrier();
      transport->forget_pairs();
    }
    descriptors(after);
    transport->close();
    return crossed;
  };
  auto other = std::async(std::launch::async, member, 1);
  EXPECT_EQ(member(0), 350);
  EXPECT_EQ(other.get(), 350);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace wireproof::tcp
