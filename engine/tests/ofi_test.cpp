// The libfabric transport: what ranks say of their endpoints, what is asked for, and, where a
// libfabric is here, whole pairs over its tcp provider on loopback.
#include <gtest/gtest.h>

#include <array>
#include <future>

#include "base/arguments.hpp"
#include "pattern/runner.hpp"
#include "tests/tcp_meeting.hpp"
#include "transport/ofi/selection.hpp"
#include "transport/ofi/word.hpp"
#include "transport/openers.hpp"

namespace wireproof::ofi {
namespace {

using tcp::free_meeting_point;
using tcp::message_of;

Word word_of(const std::string& provider, int version = 1) {
  return {.provider = provider,
          .protocol = 11,
          .protocol_version = version,
          .format = 2,
          .messages = "tagged",
          .completion = "",
          .memory = "",
          .address = std::string("\x02\x00\xff\x7f", 4)};
}

TEST(OfiWord, IsReadAsItWasSaid) {
  Word said = word_of("tcp;ofi_rxm");
  said.completion = "delivery";
  EXPECT_EQ(said.line(), "tcp;ofi_rxm 11 1 2 tagged delivery - 0200ff7f");
  const Word heard = Word::read(said.line());
  EXPECT_EQ(heard.provider, said.provider);
  EXPECT_EQ(heard.protocol, said.protocol);
  EXPECT_EQ(heard.completion, said.completion);
  EXPECT_EQ(heard.address, said.address);
  EXPECT_EQ(Word::read(word_of("shm").line()).completion, "");
}

TEST(OfiWord, AnythingElseIsRefused) {
  for (const char* line : {"", "tcp", "tcp 1 1 2 - - - 0", "tcp 1 1 2 - - - 0g",
                           "tcp x 1 2 - - - 00", "tcp 1 1 2 - - - 00 more"}) {
    EXPECT_EQ(message_of([&] { Word::read(line); }).substr(0, 11), "ofi-garbled") << line;
  }
}

TEST(OfiWord, RanksThatCannotTalkAreNamedWithWhatTheyHave) {
  EXPECT_EQ(message_of([] { check_alike({word_of("tcp"), word_of("tcp")}); }), "");
  EXPECT_EQ(message_of([] { check_alike({}); }), "");
  const std::string other = message_of([] {
    check_alike({word_of("tcp"), word_of("tcp"), word_of("shm")});
  });
  EXPECT_NE(other.find("ofi-disagree: rank 0 has provider tcp"), std::string::npos) << other;
  EXPECT_NE(other.find("rank 2 has provider shm"), std::string::npos) << other;
  EXPECT_NE(message_of([] { check_alike({word_of("tcp", 1), word_of("tcp", 2)}); }), "");
}

TEST(OfiWord, SharedMemoryEndsAtTheMachine) {
  EXPECT_EQ(shared_memory("tcp"), "");
  EXPECT_NE(shared_memory("shm"), "");
  Word here = word_of("shm");
  here.memory = shared_memory("shm");
  Word there = here;
  EXPECT_EQ(message_of([&] { check_alike({here, there}); }), "");
  there.memory = "another";
  EXPECT_NE(message_of([&] {
              check_alike({here, there});
            }).find("rank 1 is not where rank 0 is"),
            std::string::npos);
}

TEST(OfiProvider, LayersOverTheWantedOneAreTheWantedOne) {
  EXPECT_TRUE(is_provider("tcp;ofi_rxm", "tcp"));
  EXPECT_TRUE(is_provider("tcp", "tcp"));
  EXPECT_TRUE(is_provider("anything", ""));
  EXPECT_FALSE(is_provider("tcpx", "tcp"));
  EXPECT_FALSE(is_provider("shm", "psm3"));
  EXPECT_TRUE(goes_by_address("udp;ofi_rxd"));
  EXPECT_FALSE(goes_by_address("psm3"));
  EXPECT_FALSE(goes_by_address(""));
}

TEST(OfiProvider, VersionsAreText) {
  EXPECT_EQ(version_text(abi::version(1, 14)), "1.14");
  EXPECT_EQ(version_text(abi::version(2, 6)), "2.6");
}

TEST(OfiCompletion, IsAskedForAsWantedAndAtTheTargetForRemoteAccess) {
  using Levels = std::vector<std::uint64_t>;
  EXPECT_EQ(completion_levels("", false), Levels{0});
  EXPECT_EQ(completion_levels("", true), (Levels{abi::kDeliveryComplete, abi::kTransmitComplete}));
  EXPECT_EQ(completion_levels("transmit", true), Levels{abi::kTransmitComplete});
  EXPECT_EQ(completion_levels("delivery", false), Levels{abi::kDeliveryComplete});
}

TEST(OfiLibrary, AFileThatIsNoneIsOneSentence) {
  EXPECT_NE(message_of([] { Library("/nowhere/libfabric.so.1"); }).find("no libfabric was loaded"),
            std::string::npos);
  EXPECT_NE(message_of([] { Library("libc.so.6"); }).find("it has no fi_version"),
            std::string::npos);
}

TEST(OfiArguments, ARankIsStartedForIt) {
  std::array<const char*, 4> argv = {"engine", "run", "--transport", "ofi"};
  const auto parsed = parse_arguments(4, const_cast<char**>(argv.data()));
  EXPECT_EQ(parsed.transport, "ofi");
  argv[3] = "carrier-pigeon";
  EXPECT_NE(message_of([&] {
              parse_arguments(4, const_cast<char**>(argv.data()));
            }).find("carrier-pigeon is not ofi"),
            std::string::npos);
}

Plan plan_of(const std::string& transport, const std::string& points = "") {
  return parse_plan("wireproof-plan 1\nrun id=test\ntransport kind=ofi " + transport +
                    "\nrank index=0 host=a address=127.0.0.1\n"
                    "rank index=1 host=b address=127.0.0.1\n" +
                    points);
}

TEST(OfiPlan, SaysWhatLibfabricIsAskedFor) {
  const Plan plan = plan_of("provider=tcp%3Bofi_rxm library=/opt/a%20b.so completion=delivery");
  EXPECT_EQ(plan.transport, TransportKind::ofi);
  EXPECT_EQ(plan.libfabric.provider, "tcp;ofi_rxm");
  EXPECT_EQ(plan.libfabric.library, "/opt/a b.so");
  EXPECT_EQ(plan.libfabric.completion, "delivery");
  EXPECT_NE(message_of([] { plan_of("completion=soon"); }), "");
}

TEST(OfiPlan, AMessageBeyondTheProvidersIsRefused) {
  const Plan plan =
      plan_of("provider=tcp", "point id=7 pattern=pingpong message_bytes=5000 pairs=0-1\n");
  EXPECT_EQ(message_of([&] { check_sizes(plan, 5000); }), "");
  EXPECT_NE(message_of([&] { check_sizes(plan, 4999); }).find("point 7 has 5000"),
            std::string::npos);
}

/// Two ranks, each in a thread of its own, run `task` over one kept pair.
template <class Task>
void run_two(const Plan& plan, Task task) {
  const std::string meet = free_meeting_point();
  const auto member = [&](int rank) {
    OpenRequest request;
    request.rank = rank;
    request.ranks = 2;
    request.meet = meet;
    const auto transport = open_ofi(request);
    transport->configure(plan);
    task(*transport, rank);
    transport->close();
  };
  auto other = std::async(std::launch::async, member, 1);
  member(0);
  other.get();
}

bool libfabric_is_here() {
  return message_of([] { Library(""); }).empty();
}

/// One pattern from rank 0 to rank 1; whether this rank saw every payload arrive.
bool runs(Transport& transport, const HostClock& clock, Pattern pattern, std::size_t bytes,
          int window = 16) {
  const PointShape shape{.pattern = pattern,
                         .form = pattern == Pattern::pingpong || pattern == Pattern::put
                                     ? Form::latency
                                     : Form::stream,
                         .formula = Formula::robust,
                         .bytes = bytes,
                         .window = window,
                         .window_kind = WindowKind::allocate};
  const Segment segment{.lead_in = 1, .batches = 3, .granules = 2, .trail = 1};
  bool good = true;
  transport.run_pair(0, 1, clock,
                     {.originate =
                          [&](Pair& pair) {
                            std::array<Ticks, 4> ticks{};
                            const auto runner = pair.make_runner(shape);
                            runner->originate(segment, ticks);
                            good = runner->verify_origin(11) && ticks[0] > 0;
                          },
                      .answer =
                          [&](Pair& pair) {
                            const auto runner = pair.make_runner(shape);
                            runner->answer(segment);
                            good = runner->verify_target(11);
                          }});
  return good;
}

class OfiTransport : public ::testing::TestWithParam<const char*> {};  // keys of the plan

TEST_P(OfiTransport, CarriesEveryPattern) {
  if (!libfabric_is_here()) GTEST_SKIP() << "no libfabric.so.1 here";
  const HostClock clock;
  const Plan plan = plan_of(GetParam(), "point id=1 pattern=put message_bytes=8 pairs=0-1\n");
  run_two(plan, [&](Transport& transport, int) {
    EXPECT_TRUE(transport.has(Pattern::put));
    EXPECT_FALSE(transport.has(Pattern::accumulate));
    EXPECT_FALSE(transport.has(Pattern::threads));
    const auto fabric = transport.library().fabric;
    ASSERT_TRUE(fabric);
    EXPECT_TRUE(is_provider(fabric->provider, plan.libfabric.provider)) << fabric->provider;
    EXPECT_EQ(fabric->messages, plan.libfabric.messages);
    // Datagrams that a busy machine drops come again after long pauses: few and small ones do.
    const bool drops = plan.libfabric.provider == "udp";
    const int window = drops ? 2 : 16;
    const std::size_t largest = drops ? 1000 : 100'000;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, largest}) {
      for (const auto pattern :
           {Pattern::pingpong, Pattern::stream, Pattern::exchange, Pattern::put, Pattern::get}) {
        if (bytes == 0 && is_remote(pattern)) continue;
        EXPECT_TRUE(runs(transport, clock, pattern, bytes, window)) << name_of(pattern) << bytes;
      }
    }
  });
}

std::string fake(const std::string& more = "") {
  return std::string("provider=fake library=") + FAKE_LIBFABRIC + more;
}

// Every third call finds no room, and memory must be registered before it is named.
TEST(OfiFake, RegistersItsMemoryAndTriesAgain) {
  const HostClock clock;
  const Plan plan = plan_of(fake(), "point id=1 pattern=put message_bytes=8 pairs=0-1\n");
  run_two(plan, [&](Transport& transport, int) {
    EXPECT_EQ(transport.library().version, "libfabric 2.9");
    EXPECT_EQ(transport.library().fabric->completion, "delivery");
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}}) {
      for (const auto pattern :
           {Pattern::pingpong, Pattern::stream, Pattern::exchange, Pattern::put, Pattern::get}) {
        EXPECT_TRUE(runs(transport, clock, pattern, bytes)) << name_of(pattern) << bytes;
      }
    }
  });
}

TEST(OfiFake, SaysWhatTheProviderSaidOfAFailedOperation) {
  const HostClock clock;
  run_two(plan_of(fake()), [&](Transport& transport, int) {
    std::array<std::byte, 64> word{};
    const auto longer = [&](Pair& pair) { pair.send_control(std::span(word)); };
    const auto shorter = [&](Pair& pair) {
      EXPECT_EQ(message_of([&] { pair.recv_control(std::span(word).first(8)); }),
                "ofi-lost: rank 0: too long (said by the fake)");
    };
    transport.run_pair(0, 1, clock, {.originate = longer, .answer = shorter});
  });
}

TEST(OfiFake, AWindowBeyondWhatItTakesCannotBegin) {
  const HostClock clock;
  run_two(plan_of(fake()), [&](Transport& transport, int) {
    const PointShape shape{.pattern = Pattern::stream,
                           .form = Form::stream,
                           .formula = Formula::robust,
                           .bytes = 8,
                           .window = 128,
                           .window_kind = WindowKind::allocate};
    const auto refuse = [&](Pair& pair) {
      EXPECT_EQ(message_of([&] { pair.make_runner(shape); }).substr(0, 9), "ofi-depth");
    };
    transport.run_pair(0, 1, clock, {.originate = refuse, .answer = refuse});
  });
}

TEST(OfiLibrary, OneThatIsTooOldIsNamedWithItsVersion) {
  EXPECT_NE(message_of([] {
              Library(OLD_LIBFABRIC);
            }).find("is libfabric 1.13: transport ofi needs 1.14 or newer"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Providers, OfiTransport,
                         ::testing::Values("provider=tcp", "provider=udp",
                                           "provider=tcp messages=msg"));

TEST(OfiTransportRefuses, AProviderThatIsNotHere) {
  if (!libfabric_is_here()) GTEST_SKIP() << "no libfabric.so.1 here";
  OpenRequest request;
  const auto transport = open_ofi(request);
  const std::string why = message_of([&] { transport->configure(plan_of("provider=nothing")); });
  EXPECT_NE(why.find("offers no provider nothing here; it offers "), std::string::npos) << why;
}

}  // namespace
}  // namespace wireproof::ofi
