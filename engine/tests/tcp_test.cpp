// The tcp transport on loopback: addresses, strangers, the control plane.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "tests/tcp_meeting.hpp"
#include "transport/meeting/group.hpp"

namespace wireproof::tcp {
namespace {

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

}  // namespace
}  // namespace wireproof::tcp
