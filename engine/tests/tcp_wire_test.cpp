// Data that travels before a connection is trusted: greetings byte by byte, refusals, addresses,
// and transfers that end in time.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "transport/meeting/handshake.hpp"
#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {
namespace {

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

Greeting greeting() { return {Purpose::data, 3, 1, 8, "run-1"}; }

TEST(GreetingCodec, EveryPurposeAndNumberSurvives) {
  for (const Purpose purpose :
       {Purpose::meet, Purpose::data, Purpose::acknowledge, Purpose::control}) {
    for (const int rank : {0, 1, 255, 65536, 1'048'575}) {
      const Greeting sent{purpose, rank, rank + 1, rank + 2, "r"};
      const auto got = decode(encode(sent));
      ASSERT_TRUE(got);
      EXPECT_EQ(got->purpose, sent.purpose);
      EXPECT_EQ(got->from, sent.from);
      EXPECT_EQ(got->to, sent.to);
      EXPECT_EQ(got->ranks, sent.ranks);
      EXPECT_EQ(got->run, "r");
    }
  }
}

TEST(GreetingCodec, NumbersAreInNetworkOrder) {
  const GreetingBytes bytes = encode({Purpose::data, 0x01020304, 0, 0, ""});
  const std::array<int, 8> expected = {0, 0, 0, 2, 1, 2, 3, 4};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[16 + i]), expected[i]) << i;
  }
}

TEST(GreetingCodec, RunsOfEveryLengthThatFits) {
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{159}, std::size_t{160}}) {
    Greeting sent = greeting();
    sent.run = std::string(length, 'x');
    EXPECT_EQ(decode(encode(sent))->run, sent.run);
  }
  Greeting longer = greeting();
  longer.run = std::string(161, 'x');
  EXPECT_NE(failure_of([&] { encode(longer); }).find("160 bytes"), std::string::npos);
}

TEST(GreetingCodec, AnyOtherProtocolWordIsAStranger) {
  const GreetingBytes good = encode(greeting());
  for (std::size_t i = 0; i < 16; ++i) {
    GreetingBytes bad = good;
    bad[i] ^= std::byte{1};
    EXPECT_FALSE(decode(bad)) << "byte " << i;
  }
  EXPECT_FALSE(decode(GreetingBytes{}));
}

TEST(GreetingCodec, APurposeThatIsNoneIsAStranger) {
  for (const int number : {0, 5, -1, 0x7fffffff}) {
    GreetingBytes bad = encode(greeting());
    for (std::size_t i = 0; i < 4; ++i) {
      bad[16 + i] = static_cast<std::byte>(static_cast<unsigned>(number) >> (24 - 8 * i));
    }
    EXPECT_FALSE(decode(bad)) << number;
  }
}

Expectation expectation() { return {1, 8, "run-1", {Purpose::data, Purpose::control}}; }

TEST(Welcome, TheRightGreetingIsWelcome) { EXPECT_FALSE(refusal(greeting(), expectation())); }

struct Refusal {
  Greeting greeting;
  const char* sentence;
};
class Refusals : public testing::TestWithParam<Refusal> {};
TEST_P(Refusals, SayWhatIsWrong) {
  EXPECT_EQ(refusal(GetParam().greeting, expectation()), GetParam().sentence);
}
INSTANTIATE_TEST_SUITE_P(
    Greetings, Refusals,
    testing::Values(Refusal{{Purpose::meet, 3, 1, 8, "run-1"},
                            "this port is for another kind of connection"},
                    Refusal{{Purpose::acknowledge, 3, 1, 8, "run-1"},
                            "this port is for another kind of connection"},
                    Refusal{{Purpose::data, 3, 1, 8, "run-2"}, "this is another run"},
                    Refusal{{Purpose::data, 3, 1, 8, ""}, "this is another run"},
                    Refusal{{Purpose::data, 3, 1, 9, "run-1"}, "this run has 8 ranks, not 9"},
                    Refusal{{Purpose::data, 3, 2, 8, "run-1"}, "this is rank 1"},
                    Refusal{{Purpose::data, 1, 1, 8, "run-1"}, "rank 1 cannot join here"},
                    Refusal{{Purpose::data, 8, 1, 8, "run-1"}, "rank 8 cannot join here"},
                    Refusal{{Purpose::data, -1, 1, 8, "run-1"}, "rank -1 cannot join here"}));

struct Text {
  const char* host;
  int port;
  const char* text;
};
class Addresses : public testing::TestWithParam<Text> {};
TEST_P(Addresses, AreWrittenAsTheyAreRead) {
  const Address address = numeric_address(GetParam().host, GetParam().port, "x");
  EXPECT_EQ(address.text(), GetParam().text);
  EXPECT_EQ(parse_meeting_point(address.text()).text(), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(Texts, Addresses,
                         testing::Values(Text{"10.0.0.1", 4000, "10.0.0.1:4000"},
                                         Text{"127.0.0.1", 1, "127.0.0.1:1"},
                                         Text{"::1", 65535, "[::1]:65535"},
                                         Text{"fd00:0:0::1", 80, "[fd00::1]:80"}));

TEST(NumericAddress, OnlyNumericOnesAreTaken) {
  for (const char* host : {"localhost", "10.0.0.256", "fd00::g", "n3.cluster"}) {
    const std::string said = failure_of([&] { numeric_address(host, 1, "rank 3's address"); });
    EXPECT_NE(said.find("rank 3's address"), std::string::npos) << host << ": " << said;
  }
}

TEST(NumericAddress, APortIsPutInItsPlace) {
  EXPECT_EQ(with_port(numeric_address("10.0.0.1", 5, "x"), 0).text(), "10.0.0.1:0");
  EXPECT_EQ(with_port(numeric_address("fd00::1", 5, "x"), 65535).text(), "[fd00::1]:65535");
}

class MeetingPoints : public testing::TestWithParam<const char*> {};
TEST_P(MeetingPoints, ThatCannotBeAreRefused) {
  const std::string said = failure_of([] { parse_meeting_point(GetParam()); });
  EXPECT_NE(said.find("--meet"), std::string::npos) << said;
}
INSTANTIATE_TEST_SUITE_P(Texts, MeetingPoints,
                         testing::Values("", "10.0.0.1", "10.0.0.1:", "10.0.0.1:x",
                                         "10.0.0.1:65536", "10.0.0.1:-1", "[::1]", "0.0.0.0:4000",
                                         "[::]:4000"));

TEST(PeerAddresses, GarbageIsNoAddress) {
  const Address own = numeric_address("10.0.0.1", 1, "x");
  for (const char* text : {"", "10.0.0.2", "unknown address", "10.0.0.2:"}) {
    EXPECT_NE(failure_of([&] { peer_address(text, own); }), "no failure") << text;
  }
}

struct SocketPair {
  SocketPair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) {
      throw std::runtime_error("no socket pair");
    }
    one = Socket(ends[0]);
    other = Socket(ends[1]);
  }
  Socket one;
  Socket other;
};

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

TEST(Transfers, LargerThanAnyBufferArriveWhole) {
  const SocketPair ends;
  const std::vector<std::byte> sent = pattern(3'000'000);
  std::vector<std::byte> got(sent.size());
  std::thread sender(
      [&] { EXPECT_EQ(send_all(ends.one, sent, deadline_in_ms(30'000)), Transfer::done); });
  EXPECT_EQ(receive_all(ends.other, got, deadline_in_ms(30'000)), Transfer::done);
  sender.join();
  EXPECT_EQ(got, sent);
}

TEST(Transfers, ASilentPeerEndsAtTheDeadline) {
  const SocketPair ends;
  std::vector<std::byte> got(4);
  const std::int64_t before = monotonic_ns();
  EXPECT_EQ(receive_all(ends.other, got, deadline_in_ms(30)), Transfer::late);
  EXPECT_GE(monotonic_ns() - before, 25'000'000);
}

TEST(Transfers, APeerThatReadsNothingEndsAtTheDeadline) {
  const SocketPair ends;
  EXPECT_EQ(send_all(ends.one, pattern(8'000'000), deadline_in_ms(30)), Transfer::late);
}

TEST(Transfers, APeerThatLeftIsClosed) {
  SocketPair fresh;
  { const Socket gone = std::move(fresh.one); }
  std::vector<std::byte> got(4);
  EXPECT_EQ(receive_all(fresh.other, got, deadline_in_ms(10'000)), Transfer::closed);
}

TEST(Transfers, HalfOfWhatIsWaitedForIsNotDone) {
  SocketPair ends;
  ASSERT_EQ(::send(ends.one.descriptor(), "ab", 2, 0), 2);
  { const Socket gone = std::move(ends.one); }
  std::vector<std::byte> got(4);
  EXPECT_EQ(receive_all(ends.other, got, deadline_in_ms(10'000)), Transfer::closed);
}

TEST(Transfers, NothingIsDoneAtOnce) {
  const SocketPair ends;
  EXPECT_EQ(send_all(ends.one, {}, 0), Transfer::done);
  EXPECT_EQ(receive_all(ends.other, {}, 0), Transfer::done);
}

TEST(Transfers, EveryEndHasASentence) {
  for (const Transfer transfer : {Transfer::closed, Transfer::late, Transfer::failed}) {
    EXPECT_NE(sentence(transfer), "");
  }
}

TEST(WaitFor, SaysWhetherSomethingIsThere) {
  const SocketPair ends;
  EXPECT_FALSE(wait_for(ends.other.descriptor(), POLLIN, deadline_in_ms(5)));
  EXPECT_TRUE(wait_for(ends.other.descriptor(), POLLOUT, deadline_in_ms(5'000)));
  ASSERT_EQ(::send(ends.one.descriptor(), "a", 1, 0), 1);
  EXPECT_TRUE(wait_for(ends.other.descriptor(), POLLIN, deadline_in_ms(5'000)));
  EXPECT_FALSE(wait_for(ends.other.descriptor(), POLLIN, 0)) << "the deadline is over";
}

TEST(Sockets, OwnWhatTheyHold) {
  SocketPair ends;
  const int number = ends.one.descriptor();
  Socket moved = std::move(ends.one);
  EXPECT_EQ(moved.descriptor(), number);
  EXPECT_FALSE(ends.one.is_open());
  EXPECT_TRUE(moved.is_open());
}

TEST(ListenOn, APortThatIsTakenIsNamed) {
  const Socket first = listen_on(numeric_address("127.0.0.1", 0, "x"));
  const std::string taken = first.local().text();
  const std::string said = failure_of([&] { listen_on(first.local()); });
  EXPECT_NE(said.find("cannot listen on " + taken), std::string::npos) << said;
}

TEST(ConnectTo, NobodyThereIsAFailureAtTheDeadline) {
  Address nobody;
  {
    const Socket closed = listen_on(numeric_address("127.0.0.1", 0, "x"));
    nobody = closed.local();
  }
  const std::string said =
      failure_of([&] { connect_to(nobody, std::nullopt, deadline_in_ms(50)); });
  EXPECT_NE(said.find("cannot connect to " + nobody.text()), std::string::npos) << said;
}

TEST(ConnectTo, AnAddressThatIsNotOursCannotBeBound) {
  const Socket listener = listen_on(numeric_address("127.0.0.1", 0, "x"));
  const Address foreign = numeric_address("192.0.2.77", 0, "x");  // documentation's, RFC 5737
  const std::string said =
      failure_of([&] { connect_to(listener.local(), foreign, deadline_in_ms(5'000)); });
  EXPECT_NE(said.find("cannot bind to 192.0.2.77:0"), std::string::npos) << said;
}

TEST(ConnectTo, ComesFromTheAddressThatWasGiven) {
  const Socket listener = listen_on(numeric_address("127.0.0.1", 0, "x"));
  const Socket client =
      connect_to(listener.local(), numeric_address("127.0.0.9", 0, "x"), deadline_in_ms(10'000));
  ASSERT_TRUE(wait_for(listener.descriptor(), POLLIN, deadline_in_ms(10'000)));
  const Socket accepted = accept_one(listener);
  ASSERT_TRUE(accepted.is_open());
  EXPECT_TRUE(accepted.remote().text().starts_with("127.0.0.9:"));
  EXPECT_EQ(accepted.remote().text(), client.local().text());
}

TEST(AcceptOne, NobodyWaitingIsAClosedSocket) {
  const Socket listener = listen_on(numeric_address("127.0.0.1", 0, "x"));
  EXPECT_FALSE(accept_one(listener).is_open());
}

}  // namespace
}  // namespace wireproof::tcp
