// The tcp transport on loopback: addresses, strangers, the control plane, links under pressure, a
// whole pair.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <numeric>
#include <thread>

#include "base/failure.hpp"
#include "pattern/runner.hpp"
#include "transport/openers.hpp"
#include "transport/tcp/group.hpp"
#include "transport/tcp/link.hpp"

namespace wireproof::tcp {
namespace {

// A port that was free a moment ago.
std::string free_meeting_point(const std::string& host = "127.0.0.1") {
  return listen_on(numeric_address(host, 0, "test")).local().text();
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Failure& failure) {
    return failure.code() + ": " + failure.what();
  }
  return "";
}

bool has_ipv6() {
  return message_of([] { listen_on(numeric_address("::1", 0, "test")); }).empty();
}

std::string bytes_read(const Socket& socket) {
  std::array<std::byte, kAnswerBytes> answer{};
  if (receive_all(socket, answer, deadline_in_ms(5000)) != Transfer::done) return "";
  return reinterpret_cast<const char*>(answer.data());
}

TEST(MeetingPoint, IsAddressAndPort) {
  EXPECT_EQ(parse_meeting_point("10.1.2.3:4000").text(), "10.1.2.3:4000");
  EXPECT_EQ(parse_meeting_point("[::1]:65535").text(), "[::1]:65535");
  for (const std::string bad :
       {"", "10.1.2.3", "10.1.2.3:", ":4000", "10.1.2.3:0", "10.1.2.3:70000", "10.1.2.3:4x",
        "fd00::1:4000", "[]:4000", "10.1.2.3:-1", "0.0.0.0:4000", "[::]:4000"}) {
    EXPECT_THROW(parse_meeting_point(bad), Failure) << bad;
  }
}

TEST(PeerAddress, TakesOurScopeForLinkLocal) {
  Address own = numeric_address("fe80::1", 0, "test");
  reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_scope_id = 1;
  const Address peer = peer_address("[fe80::2%nosuchinterface]:70", own);
  EXPECT_EQ(reinterpret_cast<const sockaddr_in6*>(&peer.storage)->sin6_scope_id, 1U);
  EXPECT_EQ(peer_address("10.0.0.1:5", own).text(), "10.0.0.1:5");
  EXPECT_THROW(peer_address("\x01garbage", own), Failure);
}

TEST(Greeting, SurvivesTheWire) {
  const Greeting greeting{Purpose::control, 3, 70000, 70001, "run \xff id"};
  const auto back = decode(encode(greeting));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->purpose, Purpose::control);
  EXPECT_EQ(back->from, 3);
  EXPECT_EQ(back->to, 70000);
  EXPECT_EQ(back->ranks, 70001);
  EXPECT_EQ(back->run, "run \xff id");
  EXPECT_THROW(encode({.run = std::string(200, 'x')}), Failure);
  EXPECT_FALSE(decode(GreetingBytes{}).has_value());
}

TEST(Greeting, RefusalNamesTheReason) {
  const Expectation expectation{.rank = 0, .ranks = 4, .run = "r", .purposes = {Purpose::data}};
  const Greeting good{Purpose::data, 1, 0, 4, "r"};
  EXPECT_FALSE(refusal(good, expectation).has_value());
  const auto with = [&](auto change) {
    Greeting greeting = good;
    change(greeting);
    return refusal(greeting, expectation).value_or("");
  };
  EXPECT_EQ(with([](Greeting& g) { g.run = "other"; }), "this is another run");
  EXPECT_EQ(with([](Greeting& g) { g.ranks = 2; }), "this run has 4 ranks, not 2");
  EXPECT_EQ(with([](Greeting& g) { g.to = 2; }), "this is rank 0");
  EXPECT_EQ(with([](Greeting& g) { g.from = 4; }), "rank 4 cannot join here");
  EXPECT_EQ(with([](Greeting& g) { g.from = -1; }), "rank -1 cannot join here");
  EXPECT_EQ(with([](Greeting& g) { g.from = 0; }), "rank 0 cannot join here");
  EXPECT_NE(with([](Greeting& g) { g.purpose = Purpose::meet; }), "");
}

TEST(Reception, StrangersNeitherEnterNorDelay) {
  Reception reception(listen_on(numeric_address("127.0.0.1", 0, "test")),
                      {.rank = 0, .ranks = 2, .run = "r", .purposes = {Purpose::data}});
  const Address address = reception.address();
  const auto deadline = deadline_in_ms(10'000);
  const Socket silent = connect_to(address, std::nullopt, deadline);
  const Socket garbage = connect_to(address, std::nullopt, deadline);
  const Socket short_one = connect_to(address, std::nullopt, deadline);
  std::vector<std::byte> noise(1000, std::byte{0x55});
  send_all(garbage, noise, deadline);
  send_all(short_one, std::span(noise).first(5), deadline);
  { const Socket hangs_up = connect_to(address, std::nullopt, deadline); }
  auto guest = std::async(std::launch::async, [&] {
    Socket socket = connect_to(address, std::nullopt, deadline);
    introduce(socket, {Purpose::data, 1, 0, 2, "r"}, deadline);
    return socket;
  });
  const std::int64_t start = monotonic_ns();
  const auto welcome = reception.next(deadline);
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->greeting.from, 1);
  EXPECT_LT(monotonic_ns() - start, 2'500'000'000)
      << "a silent stranger has three seconds, nobody waits for it";
  EXPECT_TRUE(guest.get().is_open());
  EXPECT_EQ(bytes_read(garbage), "not a wireproof-tcp-1 peer");
}

TEST(Reception, AnotherRunIsToldSo) {
  Reception reception(listen_on(numeric_address("127.0.0.1", 0, "test")),
                      {.rank = 0, .ranks = 2, .run = "r", .purposes = {Purpose::data}});
  auto stranger = std::async(std::launch::async, [address = reception.address()] {
    const Socket socket = connect_to(address, std::nullopt, deadline_in_ms(5000));
    return message_of([&] {
      introduce(socket, {Purpose::data, 1, 0, 2, "old"}, deadline_in_ms(5000));
    });
  });
  EXPECT_FALSE(reception.next(deadline_in_ms(300)).has_value());
  EXPECT_NE(stranger.get().find("refused: this is another run"), std::string::npos);
  EXPECT_EQ(reception.turned_away(), 1);
}

void speak_in_group(const std::string& meet, int ranks) {
  std::vector<std::thread> others;
  std::atomic<int> agreed = 0;
  const auto member = [&](int rank) {
    TcpGroup group(rank, ranks, meet, "", 10'000);
    std::string text = rank == 0 ? std::string(100'000, 'p') : "";
    group.broadcast(text);
    const auto all = group.gather("I am " + std::to_string(rank));
    group.barrier();
    const bool gathered = rank != 0 ? all.empty()
                                    : all.size() == static_cast<std::size_t>(ranks) &&
                                          all.back() == "I am " + std::to_string(ranks - 1);
    if (text == std::string(100'000, 'p') && gathered) ++agreed;
  };
  for (int rank = ranks - 1; rank > 0; --rank) others.emplace_back(member, rank);
  member(0);
  for (std::thread& other : others) other.join();
  EXPECT_EQ(agreed, ranks);
}

TEST(TcpGroup, BroadcastsGathersAndWaits) { speak_in_group(free_meeting_point(), 4); }

TEST(TcpGroup, SixtyFourTextsArriveInOrder) {
  constexpr int kRanks = 64;
  const std::string meet = free_meeting_point();
  const auto text_of = [](int rank) {
    return std::string(static_cast<std::size_t>(rank * 997 % 5000), 'x') + std::to_string(rank);
  };
  std::vector<std::thread> others;
  for (int rank = 1; rank < kRanks; ++rank) {
    others.emplace_back([&, rank] {
      TcpGroup group(rank, kRanks, meet, "", 20'000);
      group.gather(text_of(rank));
      group.barrier();
    });
  }
  TcpGroup group(0, kRanks, meet, "", 20'000);
  const auto texts = group.gather(text_of(0));
  group.barrier();
  for (std::thread& other : others) other.join();
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(kRanks));
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
  }
}

TEST(TcpGroup, TheRankThatIsGoneIsNamedThoughAnotherIsLate) {
  const std::string meet = free_meeting_point();
  std::promise<void> end;
  const auto ended = end.get_future().share();
  std::thread late([&] {
    TcpGroup group(1, 3, meet, "", 5000);
    ended.wait();
  });
  std::thread gone([&] { TcpGroup(2, 3, meet, "", 5000); });
  TcpGroup group(0, 3, meet, "", 5000);
  gone.join();
  EXPECT_NE(message_of([&] { group.barrier(); }).find("rank 2 closed the connection"),
            std::string::npos);
  end.set_value();
  late.join();
}

TEST(TcpGroup, OverIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "needs: IPv6 on the loopback interface";
  speak_in_group(free_meeting_point("::1"), 2);
}

TEST(TcpGroup, AloneNeedsNobody) {
  TcpGroup group(0, 1, "", "", 100);
  group.barrier();
  EXPECT_EQ(group.gather("x"), std::vector<std::string>{"x"});
}

TEST(TcpGroup, AbsentRanksAreNamed) {
  const auto message = message_of([] { TcpGroup(0, 3, free_meeting_point(), "", 200); });
  EXPECT_NE(message.find("ranks 1 2 did not come"), std::string::npos) << message;
}

TEST(TcpGroup, NobodyListens) {
  const auto message = message_of([] { TcpGroup(1, 2, free_meeting_point(), "", 300); });
  EXPECT_NE(message.find("cannot connect to 127.0.0.1:"), std::string::npos) << message;
}

TEST(TcpGroup, BadArguments) {
  EXPECT_NE(message_of([] { TcpGroup(2, 2, "127.0.0.1:1", "", 100); }).find("rank 2 of 2"),
            std::string::npos);
  EXPECT_NE(message_of([] { TcpGroup(0, 2, "", "", 100); }).find("--meet"), std::string::npos);
  EXPECT_NE(
      message_of([] { TcpGroup(0, 2, "192.0.2.1:4000", "", 100); }).find("belongs to no interface"),
      std::string::npos);
}

TEST(TcpGroup, LostRankIsNoticed) {
  const std::string meet = free_meeting_point();
  auto other = std::async(std::launch::async, [&] { TcpGroup(1, 2, meet, "", 5000); });
  TcpGroup group(0, 2, meet, "", 5000);
  other.get();
  EXPECT_NE(message_of([&] { group.barrier(); }).find("closed the connection"), std::string::npos);
}

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
      const PointShape shape{.pattern = kind,
                             .form = kind == Pattern::pingpong ? Form::latency : Form::stream,
                             .formula = Formula::robust,
                             .bytes = 40'000,
                             .window = 16,
                             .window_kind = WindowKind::allocate};
      const Segment segment{.lead_in = 1, .batches = 3, .granules = 2, .trail = 1};
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
      transport->run_pair(0, 1, clock, roles);
      transport->run_pair(1, 0, clock, roles);
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
