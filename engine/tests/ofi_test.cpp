// The libfabric transport: what ranks report about their endpoints, and what is requested.
#include <gtest/gtest.h>

#include <array>

#include "base/arguments.hpp"
#include "tests/ofi_ranks.hpp"
#include "transport/ofi/demands.hpp"
#include "transport/ofi/word.hpp"
#include "transport/openers.hpp"

namespace wireproof::ofi {
namespace {

using tcp::message_of;

Word word_of(const std::string& provider, int version = 1) {
  return {.provider = provider,
          .protocol = 11,
          .protocol_version = version,
          .format = 2,
          .messages = "tagged",
          .completion = "",
          .remote = "",
          .memory = "",
          .address = std::string("\x02\x00\xff\x7f", 4)};
}

TEST(OfiWord, IsReadAsItWasSaid) {
  Word said = word_of("tcp;ofi_rxm");
  said.completion = "delivery";
  EXPECT_EQ(said.line(), "tcp;ofi_rxm 11 1 2 tagged delivery - - 0200ff7f");
  const Word heard = Word::read(said.line());
  EXPECT_EQ(heard.provider, said.provider);
  EXPECT_EQ(heard.protocol, said.protocol);
  EXPECT_EQ(heard.completion, said.completion);
  EXPECT_EQ(heard.address, said.address);
  EXPECT_EQ(Word::read(word_of("shm").line()).completion, "");
}

TEST(OfiWord, AnythingElseIsRefused) {
  for (const char* line : {"", "tcp", "tcp 1 1 2 - - - - 0", "tcp 1 1 2 - - - - 0g",
                           "tcp x 1 2 - - - - 00", "tcp 1 1 2 - - - - 00 more"}) {
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

std::vector<std::string> levels(const std::string& keys, const std::string& points) {
  const Plan plan = plan_of(keys, points);
  std::vector<std::string> found;
  for (const Level& level : levels_of(plan.libfabric, demands_of(plan))) {
    found.push_back(std::to_string(level.completion >> 27) + std::string(name_of(level.remote)));
  }
  return found;
}

TEST(OfiLevels, RemoteWritesEndAtTheTargetWhereThatIsToBeHad) {
  using Texts = std::vector<std::string>;
  const std::string pingpong = "point id=1 pattern=pingpong message_bytes=8 pairs=0-1\n";
  const std::string put = "point id=1 pattern=put message_bytes=8 pairs=0-1\n";
  EXPECT_EQ(levels("", pingpong), Texts{"0"});
  EXPECT_EQ(levels("completion=delivery", pingpong), Texts{"2"});
  EXPECT_EQ(levels("", put), (Texts{"2delivery", "1read-back", "1local"}));
  EXPECT_EQ(levels("messages=msg", put), (Texts{"2delivery", "1local"}));
  EXPECT_EQ(levels("completion=transmit", put), Texts{"1local"});
}

TEST(OfiDemands, AreThoseOfThePoints) {
  const auto asked = [](const std::string& keys, const std::string& point) {
    const Plan plan = plan_of(keys, "point id=1 message_bytes=8 pattern=" + point + "\n");
    return capabilities_of(plan, demands_of(plan));
  };
  EXPECT_EQ(asked("", "pingpong pairs=0-1"), abi::kTagged);
  EXPECT_EQ(asked("", "get pairs=0-1"), abi::kTagged | abi::kRemoteAccess);
  EXPECT_EQ(asked("", "accumulate pairs=0-1"), abi::kTagged | abi::kRemoteAccess | abi::kAtomics);
  EXPECT_EQ(asked("", "ring members=0:1"), abi::kTagged);
  EXPECT_EQ(asked("messages=msg", "ring members=0:1"),
            abi::kTagged | abi::kMessages | abi::kDirectedReceive);
}

TEST(OfiDemands, AMemberWithTooMuchUnderWayIsRefusedBeforehand) {
  const Plan plan =
      plan_of("", "point id=3 pattern=incast message_bytes=8 members=0:3 window=16\n");
  EXPECT_EQ(message_of([&] { check_depths(plan, 48); }), "");
  EXPECT_NE(message_of([&] { check_depths(plan, 47); }).find("point 3 (incast of 4) wants 48"),
            std::string::npos);
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

TEST(OfiLibrary, OneThatIsTooOldIsNamedWithItsVersion) {
  EXPECT_NE(message_of([] {
              Library(OLD_LIBFABRIC);
            }).find("is libfabric 1.13: transport ofi needs 1.14 or newer"),
            std::string::npos);
}

TEST(OfiLibrary, OneThatLacksAFunctionSaysWhich) {
  EXPECT_NE(message_of([] {
              Library(CUT_LIBFABRIC);
            }).find("is libfabric 2.9 without fi_dupinfo@FABRIC_1.3"),
            std::string::npos);
}

TEST(OfiTransportRefuses, AProviderThatIsNotHere) {
  if (!libfabric_is_here()) GTEST_SKIP() << "no libfabric.so.1 here";
  OpenRequest request;
  const auto transport = open_ofi(request);
  const std::string why = message_of([&] { transport->configure(plan_of("provider=nothing")); });
  EXPECT_NE(why.find("offers no provider nothing here; it offers "), std::string::npos) << why;
}

}  // namespace
}  // namespace wireproof::ofi
