// The libfabric transport in use: whole pairs and groups over the providers of the installed
// libfabric, on loopback, and over a simulated one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include "pattern/group/end.hpp"
#include "pattern/group/permutation.hpp"
#include "pattern/runner.hpp"
#include "tests/ofi_ranks.hpp"
#include "transport/exchange.hpp"
#include "transport/ofi/library.hpp"

namespace wireproof::ofi {
namespace {

constexpr Segment kSegment{.lead_in = 1, .batches = 3, .granules = 2, .trail = 1};

/// Runs one pattern from rank 0 to rank 1; returns whether this rank saw every payload arrive.
bool runs(Transport& transport, const HostClock& clock, Pattern pattern, std::size_t bytes,
          int window = 16) {
  const PointShape shape{.pattern = pattern,
                         .form = has_form(pattern, Form::latency) ? Form::latency : Form::stream,
                         .formula = Formula::robust,
                         .bytes = bytes,
                         .window = window,
                         .window_kind = WindowKind::allocate};
  bool good = true;
  transport.run_pair(0, 1, clock,
                     {.originate =
                          [&](Pair& pair) {
                            std::array<Ticks, 4> ticks{};
                            const auto runner = pair.make_runner(shape);
                            runner->originate(kSegment, ticks);
                            good = runner->verify_origin(11) && ticks[0] > 0;
                          },
                      .answer =
                          [&](Pair& pair) {
                            const auto runner = pair.make_runner(shape);
                            runner->answer(kSegment);
                            good = runner->verify_target(11);
                          }});
  return good;
}

/// Runs one pattern among ranks 0 to 3; returns whether this rank saw every payload arrive.
bool runs_in_group(Transport& transport, const HostClock& clock, Pattern pattern, Formula formula,
                   std::size_t bytes, int window) {
  bool good = false;
  transport.run_group({0, 1, 2, 3}, clock, [&](GroupEnd& end) {
    const Neighbours near = neighbours_of(end.member(), end.members());
    const auto runner = end.make_runner({.pattern = pattern,
                                         .formula = formula,
                                         .bytes = bytes,
                                         .window = window,
                                         .member = end.member(),
                                         .members = end.members(),
                                         .left = near.left,
                                         .right = near.right,
                                         .watched = 1,
                                         .load_bytes = bytes});
    std::array<Ticks, 4> ticks{};
    good = runner->verify(7);
    if (pattern == Pattern::congestion) runner->enter(Phase::loaded, 0, 1);
    runner->run(kSegment, ticks);
    good = runner->verify(8) && good;
    std::array<double, 600> sums{};  // more than fits one control message
    sums.fill(1);
    end.reduce(Reduction::sum, sums);
    if (end.member() == 0) good = good && sums.front() == 4 && sums.back() == 4;
  });
  return good;
}

constexpr auto kGroups = std::to_array<std::pair<Pattern, Formula>>({
    {Pattern::ring, Formula::robust},
    {Pattern::ring, Formula::hpcc},
    {Pattern::message_rate, Formula::robust},
    {Pattern::message_rate, Formula::osu},
    {Pattern::incast, Formula::robust},
    {Pattern::all_to_all, Formula::robust},
    {Pattern::congestion, Formula::robust},
});
// Ranks that spin share few cores, with other tests too.
const std::string kYield = "policy yield=1\n";
const std::string kRing = "point id=9 pattern=ring message_bytes=8 members=0:3\n";
constexpr auto kByMessages = {Pattern::pingpong, Pattern::stream, Pattern::exchange};
constexpr auto kByMemory = {Pattern::put, Pattern::get};
constexpr auto kByAtomics = {Pattern::accumulate, Pattern::fetch_and_op, Pattern::compare_and_swap};

std::string point(std::string_view pattern) {
  return "point id=1 message_bytes=8 pairs=0-1 pattern=" + std::string(pattern) + "\n";
}

/// The requests to each provider of Debian's libfabric 1.17. `missing`: its message about atomics.
/// `groups`: number of kGroups that are tried, since four ranks that spin share few cores.
struct Carried {
  const char* keys;
  int window = 16;
  std::size_t largest = 100'000;
  std::size_t groups = 1;
  const char* missing = nullptr;
  friend std::ostream& operator<<(std::ostream& out, const Carried& one) { return out << one.keys; }
};
// Datagrams that a busy machine drops are sent again only after long pauses, so use few and small
// ones.
constexpr Carried kCarried[] = {
    {"provider=tcp", 16, 100'000, 7},
    {"provider=tcp messages=msg", 16, 100'000, 2},
    {"provider=udp", 2, 1000},
    {"provider=shm", 16, 100'000, 7},
    {"provider=sockets", 4, 1000},
    {"provider=net", 16, 100'000, 1, "provider net has no accumulate of 64-bit integers"},
};

class OfiProviders : public ::testing::TestWithParam<Carried> {
 protected:
  void SetUp() override {
    if (!libfabric_is_here()) GTEST_SKIP() << "no libfabric.so.1 here";
    const auto here = Library("").providers();
    const std::string wanted = plan_of(GetParam().keys).libfabric.provider;
    const bool has = std::any_of(here.begin(), here.end(), [&](const std::string& name) {
      return is_provider(name, wanted);
    });
    if (!has) GTEST_SKIP() << "this libfabric offers no provider " << wanted;
  }
  const HostClock clock_;
};

TEST_P(OfiProviders, CarryEveryPatternOfPairs) {
  const Carried& carried = GetParam();
  const Plan plan = plan_of(carried.keys, kYield + point("put"));
  run_ranks(2, plan, [&](Transport& transport, int) {
    EXPECT_TRUE(transport.has(Pattern::put));
    EXPECT_FALSE(transport.has(Pattern::accumulate));
    EXPECT_FALSE(transport.has(Pattern::threads));
    const auto fabric = transport.library().fabric;
    ASSERT_TRUE(fabric);
    EXPECT_TRUE(is_provider(fabric->provider, plan.libfabric.provider)) << fabric->provider;
    EXPECT_EQ(fabric->messages, plan.libfabric.messages);
    EXPECT_EQ(fabric->exchange, "meeting");
    EXPECT_EQ(fabric->remote, "delivery");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, carried.largest}) {
      for (const auto pattern : kByMessages) {
        EXPECT_TRUE(runs(transport, clock_, pattern, bytes, carried.window))
            << name_of(pattern) << bytes;
      }
      for (const auto pattern : kByMemory) {
        if (bytes == 0) continue;
        EXPECT_TRUE(runs(transport, clock_, pattern, bytes, carried.window))
            << name_of(pattern) << bytes;
      }
    }
  });
}

TEST_P(OfiProviders, CarryGroups) {
  const Carried& carried = GetParam();
  run_ranks(4, plan_of(carried.keys, kYield + kRing), [&](Transport& transport, int) {
    EXPECT_TRUE(transport.has_groups());
    EXPECT_TRUE(transport.has(Pattern::incast));
    EXPECT_FALSE(transport.has(Pattern::allreduce));
    for (std::size_t i = 0; i < carried.groups; ++i) {
      const auto& [pattern, formula] = kGroups[i];
      const std::size_t bytes = i % 2 == 0 ? carried.largest : 8;
      EXPECT_TRUE(runs_in_group(transport, clock_, pattern, formula, bytes, 4))
          << name_of(pattern) << bytes;
    }
  });
}

TEST_P(OfiProviders, HaveAtomicsOrSayThatTheyHaveNone) {
  const Carried& carried = GetParam();
  const Plan plan = plan_of(carried.keys, kYield + point("accumulate") +
                                              "point id=2 message_bytes=8 "
                                              "pairs=0-1 pattern=compare_and_swap\n");
  const auto task = [&](Transport& transport, int) {
    for (const auto pattern : kByAtomics) {
      EXPECT_TRUE(transport.has(pattern));
      EXPECT_TRUE(runs(transport, clock_, pattern, 8, carried.window)) << name_of(pattern);
    }
  };
  const std::string said = message_of([&] { run_ranks(2, plan, task); });
  EXPECT_EQ(said.empty(), carried.missing == nullptr) << said;
  if (carried.missing != nullptr) {
    EXPECT_NE(said.find(carried.missing), said.npos) << said;
  }
}

// More data than the sockets and the provider's own buffers hold: the call is repeated until there
// is room.
TEST(OfiWindow, AsLargeAsTheProviderTakesIt) {
  if (!libfabric_is_here()) GTEST_SKIP() << "no libfabric.so.1 here";
  const HostClock clock;
  run_ranks(2, plan_of("provider=tcp", kYield + point("put")), [&](Transport& transport, int) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{20'000}}) {
      EXPECT_TRUE(runs(transport, clock, Pattern::stream, bytes, 1024)) << bytes;
      EXPECT_TRUE(runs(transport, clock, Pattern::exchange, bytes, 512)) << bytes;
      EXPECT_TRUE(runs(transport, clock, Pattern::put, bytes, 1)) << bytes;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Here, OfiProviders, ::testing::ValuesIn(kCarried));

std::string fake(const std::string& provider = "fake", const std::string& more = "") {
  return "provider=" + provider + " library=" + FAKE_LIBFABRIC + more;
}

// Every third call finds no room, and memory must be registered before use.
TEST(OfiFake, RegistersItsMemoryAndTriesAgain) {
  const HostClock clock;
  const Plan plan = plan_of(fake(), point("put") +
                                        "point id=2 message_bytes=8 pairs=0-1 "
                                        "pattern=accumulate\n");
  run_ranks(2, plan, [&](Transport& transport, int) {
    EXPECT_EQ(transport.library().version, "libfabric 2.9");
    EXPECT_EQ(transport.library().fabric->completion, "delivery");
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}}) {
      for (const auto pattern : kByMessages) {
        EXPECT_TRUE(runs(transport, clock, pattern, bytes)) << name_of(pattern) << bytes;
      }
      for (const auto pattern : kByMemory) {
        EXPECT_TRUE(runs(transport, clock, pattern, bytes)) << name_of(pattern) << bytes;
      }
    }
    for (const auto pattern : kByAtomics) {
      EXPECT_TRUE(runs(transport, clock, pattern, 8)) << name_of(pattern);
    }
  });
}

TEST(OfiFake, RegistersTheMemoryOfGroups) {
  const HostClock clock;
  run_ranks(4, plan_of(fake(), kYield + kRing), [&](Transport& transport, int) {
    for (const auto& [pattern, formula] : kGroups) {
      EXPECT_TRUE(runs_in_group(transport, clock, pattern, formula, 5000, 4)) << name_of(pattern);
    }
  });
}

TEST(OfiFake, AWriteThatIsLateIsReadBack) {
  const HostClock clock;
  const Plan plan = plan_of(fake("late"), point("put"));
  run_ranks(2, plan, [&](Transport& transport, int) {
    EXPECT_EQ(transport.library().fabric->remote, "read-back");
    EXPECT_EQ(transport.library().fabric->completion, "transmit");
    EXPECT_TRUE(runs(transport, clock, Pattern::put, 8));
    EXPECT_TRUE(runs(transport, clock, Pattern::put, 5000));
    EXPECT_TRUE(runs(transport, clock, Pattern::get, 8));
    for (const auto pattern : kByMessages) {
      EXPECT_TRUE(runs(transport, clock, pattern, 5000)) << name_of(pattern);
    }
    EXPECT_TRUE(runs(transport, clock, Pattern::put, 64));
  });
}

/// The facts that rank 0 of a single-rank job gets.
std::string said_by(const std::string& provider, const std::string& points,
                    const std::string& more = "") {
  const auto transport = open_ofi({});
  return message_of([&] { transport->configure(plan_of(fake(provider, more), points)); });
}

/// The only rank of a job that some MPI has started.
class Alone final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast(std::string&) override {}
  std::vector<std::string> gather(std::string_view text) override { return {std::string(text)}; }
  void barrier() override {}
};

TEST(OfiFake, AddressesThatAnMpiCarriesAreSaidToBeItsOwn) {
  bool ended = false;
  const auto transport =
      open_ofi_over({.group = std::make_unique<Alone>(),
                     .means = "mpi",
                     .library = "Some MPI 1",
                     .check =
                         [](const Plan& plan) {
                           if (plan.expect != "Some")
                             throw cannot_measure("library-mismatch", "another answered");
                         },
                     .end = [&] { ended = true; }});
  EXPECT_EQ(message_of([&] { transport->configure(plan_of(fake("fake", " expect=Other"))); }),
            "library-mismatch: rank 0: another answered");
  transport->configure(plan_of(fake("fake", " expect=Some exchange=mpi")));
  EXPECT_EQ(transport->library().fabric->exchange, "mpi");
  EXPECT_EQ(transport->library().fabric->exchange_library, "Some MPI 1");
  transport->close();
  EXPECT_TRUE(ended);
}

TEST(OfiFake, SaysWhatAProviderLacks) {
  const auto says = [](const std::string& said, const std::string& wanted) {
    EXPECT_NE(said.find(wanted), said.npos) << said;
  };
  says(said_by("plain", point("accumulate")), "provider plain has no atomic operations");
  says(said_by("plain", "", " messages=msg"), "provider plain has no messages without tags");
  says(said_by("plain", "", " completion=delivery"), "has no such completion of a send");
  says(said_by("fake", kRing, " messages=msg"), "cannot receive from a named sender");
  says(said_by("raw", ""), "provider raw demands memory registration by FI_MR_RAW");
  says(said_by("nameless", ""), "the endpoint's address of provider nameless failed");
  says(said_by("fake", "point id=4 message_bytes=40 pairs=0-1 pattern=accumulate\n"),
       "takes accumulate of up to 32 bytes, and point 4 has 40");
  says(said_by("fake", "", " exchange=mpi"), "started to do it by meeting");
}

TEST(OfiFake, WithoutDeliveryAndOrderAWriteIsLocal) {
  const auto transport = open_ofi({});
  transport->configure(plan_of(fake("local"), point("put")));
  EXPECT_EQ(transport->library().fabric->remote, "local");
  EXPECT_EQ(transport->library().fabric->api_version, "0.0");
}

TEST(OfiFake, SaysWhatTheProviderSaidOfAFailedOperation) {
  const HostClock clock;
  run_ranks(2, plan_of(fake()), [&](Transport& transport, int) {
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
  run_ranks(2, plan_of(fake()), [&](Transport& transport, int) {
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

}  // namespace
}  // namespace wireproof::ofi
