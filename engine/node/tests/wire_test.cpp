// The store-and-forward wire without devices: due times, queues, forwarding, loss.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "node/system.hpp"
#include "node/wire/config.hpp"
#include "node/wire/switch.hpp"

namespace wireproof::wire {
namespace {

constexpr std::int64_t kGigabit = 1'000'000'000;
constexpr std::int64_t kDeep = 8 << 20;
constexpr std::size_t kFull = 1514;  // MTU 1500 with its header

PortSettings port(std::int64_t rate = kGigabit, int domain = 0) {
  return {domain, {rate, 0, 0}, {rate, 0, 0}, kDeep};
}

// A switch whose nodes have the addresses 0x10, 0x11, ... and all know each other.
class Bench {
 public:
  explicit Bench(std::vector<PortSettings> ports, std::uint64_t seed = 1, bool known = true)
      : switch_(ports, seed, pool_) {
    for (std::size_t i = 0; known && i < ports.size(); ++i) send(i, 0, kFull, kEverybody);
    switch_.advance(kKnown);
    while (!arrivals(kKnown).empty()) {
    }
  }

  static constexpr int kEverybody = -1;
  static constexpr Nanoseconds kKnown = 1'000'000'000;  // when all addresses have been learnt

  void send(std::size_t from, Nanoseconds at, std::size_t length, int to) {
    std::byte* bytes = pool_.take();
    std::memset(bytes, to == kEverybody ? 0xff : 0, length);
    if (to != kEverybody) bytes[0] = static_cast<std::byte>(0x10 + 2 * to);
    std::memset(bytes + 6, 0, 6);
    bytes[6] = static_cast<std::byte>(0x10 + 2 * from);
    switch_.take(from, at, {bytes, length});
  }

  struct Arrival {
    std::size_t port;
    Nanoseconds at;
    std::size_t length;
  };
  std::vector<Arrival> arrivals(Nanoseconds until) {
    std::vector<Arrival> found;
    switch_.advance(until);
    for (std::size_t i = 0; i < switch_.size(); ++i) {
      while (auto due = switch_.next(i, until)) {
        found.push_back({i, due->at, due->frame.length});
        pool_.give_back(due->frame.bytes);
      }
    }
    return found;
  }

  Switch& under_test() { return switch_; }

 private:
  Pool pool_{2048, 65536};
  Switch switch_;
};

constexpr Nanoseconds kBegin = Bench::kKnown;
constexpr Nanoseconds kEver = 100'000'000'000'000;
constexpr Nanoseconds kOneFrame = (1514 + 24) * 8;  // at 1 Gb/s

TEST(WireLine, AFrameTakesItsBytesPreambleGapAndCheck) {
  Line line({kGigabit, 0, 0}, 1);
  EXPECT_EQ(line.transmit(1000, 1514), 1000 + 1538 * 8);
  // an ARP request is padded to 64 bytes including its check sequence
  EXPECT_EQ(line_bytes(42), 84);
}

TEST(WireLine, FramesFollowEachOtherWithoutDrift) {
  Line line({kGigabit, 0, 0}, 1);
  Nanoseconds last = 0;
  for (int i = 0; i < 100'000; ++i) last = line.transmit(0, 1514);
  EXPECT_EQ(last, 100'000 * kOneFrame);
}

TEST(WireLine, RoundingNeverMakesALineFaster) {
  for (const std::int64_t rate : {7'000'000LL, 300'000'000LL, 2'500'000'000LL, 5'000'000'000LL}) {
    Line line({rate, 0, 0}, 1);
    Nanoseconds last = 0;
    for (int i = 0; i < 1000; ++i) last = line.transmit(0, 1514);
    const double bits = 1000.0 * 1538 * 8;
    EXPECT_LE(bits / static_cast<double>(last) * 1e9, static_cast<double>(rate));
    EXPECT_GT(bits / static_cast<double>(last) * 1e9, 0.998 * static_cast<double>(rate));
  }
}

TEST(WireLine, AnIdleLineSavesNothingUp) {
  Line line({kGigabit, 0, 0}, 1);
  line.transmit(0, 1514);
  EXPECT_EQ(line.idle_for(kOneFrame + 5), 5);
  EXPECT_EQ(line.transmit(1'000'000, 1514), 1'000'000 + kOneFrame);
  EXPECT_EQ(line.transmit(1'000'000, 1514), 1'000'000 + 2 * kOneFrame);
}

TEST(WireLine, DelayIsAddedOnceAndTakesNoRate) {
  Line line({kGigabit, 150'000, 0}, 1);
  EXPECT_EQ(line.transmit(0, 1514), kOneFrame + 150'000);
  EXPECT_EQ(line.transmit(0, 1514), 2 * kOneFrame + 150'000);
}

TEST(WireLine, AShorterDelayDoesNotLetAFrameOvertake) {
  Line line({kGigabit, 1'000'000, 0}, 1);
  const Nanoseconds first = line.transmit(0, 1514);
  line.set({kGigabit, 0, 0});
  EXPECT_GE(line.transmit(0, 1514), first);
}

TEST(WireLine, LossIsTheSharePlantedAndTheSameForOneSeed) {
  Line line({kGigabit, 0, 0.01}, 42);
  Line again({kGigabit, 0, 0.01}, 42);
  Line other({kGigabit, 0, 0.01}, 43);
  int lost = 0;
  int differs = 0;
  for (int i = 0; i < 100'000; ++i) {
    const bool gone = line.loses();
    EXPECT_EQ(gone, again.loses());
    differs += gone != other.loses() ? 1 : 0;
    lost += gone ? 1 : 0;
  }
  EXPECT_GT(lost, 850);
  EXPECT_LT(lost, 1150);
  EXPECT_GT(differs, 1000);
}

TEST(WireLine, NoLossAndAllLoss) {
  Line none({kGigabit, 0, 0}, 1);
  Line all({kGigabit, 0, 1}, 1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(none.loses());
    EXPECT_TRUE(all.loses());
  }
}

TEST(WireSwitch, AFrameIsStoredAndForwarded) {
  Bench bench({port(), port()});
  bench.send(0, kBegin, kFull, 1);
  EXPECT_EQ(bench.under_test().next_event(), kBegin + 2 * kOneFrame);
  EXPECT_TRUE(bench.arrivals(kBegin + 2 * kOneFrame - 1).empty());
  const auto arrived = bench.arrivals(kBegin + 2 * kOneFrame);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].port, 1U);
  EXPECT_EQ(arrived[0].at, kBegin + 2 * kOneFrame);
  EXPECT_EQ(bench.under_test().next_event(), std::nullopt);
}

TEST(WireSwitch, DueTimesDoNotDependOnWhenWeLook) {
  Bench punctual({port(), port()});
  Bench late({port(), port()});
  for (int i = 0; i < 10; ++i) {
    punctual.send(0, kBegin + i * 1000, kFull, 1);
    late.send(0, kBegin + i * 1000, kFull, 1);
  }
  std::vector<Nanoseconds> expected;
  for (Nanoseconds now = kBegin; now < kBegin + 20 * kOneFrame; now += 1000) {
    for (const auto& one : punctual.arrivals(now)) expected.push_back(one.at);
  }
  std::vector<Nanoseconds> seen;
  for (const auto& one : late.arrivals(kEver)) seen.push_back(one.at);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(seen.size(), 10U);
}

// A loop that sleeps until the next event delivers nothing late, whatever the rates of the ports
// are.
TEST(WireSwitch, WhoWakesAtTheNextEventIsNeverLate) {
  PortSettings slow = port(kGigabit / 10);
  slow.rx.delay = 70'000;
  Bench bench({slow, port(), port(kGigabit / 3)});
  for (int i = 0; i < 30; ++i) {
    bench.send(static_cast<std::size_t>(i % 3), kBegin + i * 5000, i % 4 == 0 ? 60 : kFull,
               (i + 1) % 3);
  }
  std::size_t seen = 0;
  Nanoseconds looked = kBegin - 1;
  while (const auto next = bench.under_test().next_event()) {
    ASSERT_GT(*next, looked);
    for (const auto& one : bench.arrivals(*next)) {
      EXPECT_GT(one.at, looked);
      ++seen;
    }
    looked = *next;
  }
  EXPECT_EQ(seen, 30U);
}

TEST(WireSwitch, BothDirectionsHaveTheFullRate) {
  Bench bench({port(), port()});
  for (int i = 0; i < 100; ++i) {
    bench.send(0, kBegin, kFull, 1);
    bench.send(1, kBegin, kFull, 0);
  }
  EXPECT_EQ(bench.arrivals(kBegin + 101 * kOneFrame).size(), 200U);
}

TEST(WireSwitch, OneDirectionOfAPortMayBeSlow) {
  PortSettings slow = port();
  slow.tx.bits_per_s = kGigabit / 10;
  Bench bench({slow, port()});
  for (int i = 0; i < 10; ++i) {
    bench.send(0, kBegin, kFull, 1);
    bench.send(1, kBegin, kFull, 0);
  }
  Nanoseconds fast_end = 0;
  Nanoseconds slow_end = 0;
  for (const auto& one : bench.arrivals(kEver)) (one.port == 0 ? fast_end : slow_end) = one.at;
  EXPECT_EQ(fast_end, kBegin + 11 * kOneFrame);
  EXPECT_EQ(slow_end, kBegin + 100 * kOneFrame + kOneFrame);
}

TEST(WireSwitch, ManySendersShareOneReceiversLine) {
  Bench bench({port(), port(), port(), port()});
  for (int i = 0; i < 50; ++i) {
    for (std::size_t from = 1; from < 4; ++from) bench.send(from, kBegin, kFull, 0);
  }
  const auto arrived = bench.arrivals(kEver);
  ASSERT_EQ(arrived.size(), 150U);
  EXPECT_EQ(arrived.back().at, kBegin + 151 * kOneFrame);
}

TEST(WireSwitch, WhoArrivesFirstIsForwardedFirstWhateverWasReadFirst) {
  PortSettings slow = port();
  slow.tx.bits_per_s = kGigabit / 1000;
  Bench bench({slow, port(), port()});
  bench.send(0, kBegin, kFull, 2);
  bench.send(1, kBegin, kFull, 2);
  const auto arrived = bench.arrivals(kEver);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(arrived[0].at, kBegin + 2 * kOneFrame);
}

TEST(WireSwitch, AFullQueueDropsAtItsTailAndCountsIt) {
  PortSettings shallow = port();
  shallow.queue_bytes = 10 * line_bytes(kFull);
  Bench bench({shallow, port(), port()});
  for (int i = 0; i < 50; ++i) {
    bench.send(1, kBegin, kFull, 0);
    bench.send(2, kBegin, kFull, 0);
  }
  const auto arrived = bench.arrivals(kEver);
  const auto dropped = bench.under_test().counters(0).dropped;
  EXPECT_EQ(arrived.size() + dropped, 100U);
  EXPECT_GE(arrived.size(), 59U);  // what was sent in the meantime, and a full queue
  EXPECT_LE(arrived.size(), 61U);
}

TEST(WireSwitch, ANodeThatSendsTooMuchIsNotReadFurther) {
  Bench bench({port(), port()});
  int taken = 0;
  while (bench.under_test().may_take(0, kBegin) && taken < 60'000) {
    bench.send(0, kBegin, kFull, 1);
    ++taken;
  }
  EXPECT_GT(taken, 10'000);
  EXPECT_LT(taken, 12'000);
  EXPECT_TRUE(bench.under_test().may_take(1, kBegin));
}

TEST(WireSwitch, BroadcastsAndStrangersReachEveryOtherPortOfTheDomainOnly) {
  Bench bench({port(), port(), port(), port(kGigabit, 1)}, 1, false);
  bench.send(0, kBegin, 42, Bench::kEverybody);
  bench.send(0, kBegin, kFull, 2);  // nobody knows node 2 yet
  std::vector<std::size_t> reached;
  for (const auto& one : bench.arrivals(kEver)) reached.push_back(one.port);
  EXPECT_EQ(reached, (std::vector<std::size_t>{1, 1, 2, 2}));
  bench.send(2, kEver, kFull, 0);  // now everybody has
  bench.send(0, kEver + kBegin, kFull, 2);
  reached.clear();
  for (const auto& one : bench.arrivals(2 * kEver)) reached.push_back(one.port);
  EXPECT_EQ(reached, (std::vector<std::size_t>{0, 2}));
}

TEST(WireSwitch, LossIsCountedPerDirectionAndTakesItsTimeOnTheLine) {
  PortSettings lossy = port();
  lossy.tx.loss = 1;
  Bench bench({lossy, port()});
  bench.send(0, kBegin, kFull, 1);
  EXPECT_TRUE(bench.arrivals(kEver).empty());
  // the frame that introduced it was lost too
  EXPECT_EQ(bench.under_test().counters(0).tx_lost, 2U);
  EXPECT_EQ(bench.under_test().counters(1).rx_frames, 0U);
  PortSettings deaf = port();
  deaf.rx.loss = 1;
  Bench other({port(), deaf});
  other.send(0, kBegin, kFull, 1);
  EXPECT_TRUE(other.arrivals(kEver).empty());
  EXPECT_EQ(other.under_test().counters(1).rx_lost, 2U);
}

TEST(WireSwitch, NewSettingsHoldForTheFramesThatCome) {
  Bench bench({port(), port()});
  bench.send(0, kBegin, kFull, 1);
  auto settings = std::vector<PortSettings>{port(), port()};
  settings[0].tx.bits_per_s = kGigabit / 10;
  bench.under_test().set(settings);
  bench.send(0, kBegin, kFull, 1);
  const auto arrived = bench.arrivals(kEver);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(arrived[0].at, kBegin + 2 * kOneFrame);
  EXPECT_EQ(arrived[1].at, kBegin + 12 * kOneFrame);
}

TEST(WirePool, BuffersAreUsedAgainAndHaveABound) {
  Pool pool(128, 100);
  std::vector<std::byte*> taken;
  while (pool.has_room()) taken.push_back(pool.take());
  EXPECT_EQ(taken.size(), 100U);
  EXPECT_EQ(pool.take(), nullptr);
  pool.give_back(taken.back());
  EXPECT_EQ(pool.take(), taken.back());
}

TEST(WireConfig, APortIsReadWithBothDirections) {
  const Config config = parse_config(
      "revision 3\nseed 9\nlate_ns 500\n"
      "port n1 hsn0 domain=2 mtu=9000 queue=1000 tx_rate=7 tx_delay=11 tx_loss=2000000 "
      "rx_rate=8\n");
  EXPECT_EQ(config.revision, 3);
  EXPECT_EQ(config.seed, 9U);
  EXPECT_EQ(config.late, 500);
  ASSERT_EQ(config.ports.size(), 1U);
  const PortConfig& one = config.ports[0];
  EXPECT_EQ(one.node + " " + one.device, "n1 hsn0");
  EXPECT_EQ(one.mtu, 9000);
  EXPECT_EQ(one.settings.domain, 2);
  EXPECT_EQ(one.settings.tx.bits_per_s, 7);
  EXPECT_EQ(one.settings.tx.delay, 11);
  EXPECT_DOUBLE_EQ(one.settings.tx.loss, 0.002);
  EXPECT_EQ(one.settings.rx.bits_per_s, 8);
}

TEST(WireConfig, WhatCannotBeIsRefusedByName) {
  for (const char* text :
       {"", "revision 1\n", "port n1\n", "port n1 hsn0 queue=1 tx_rate=1\n",
        "port n1 hsn0 queue=1 tx_rate=1 rx_rate=-1\n", "port n1 hsn0 queue=1 tx_rate=1 rx_rate=x\n",
        "port n1 hsn0 queue=1 tx_rate=1 rx_rate=1 colour=3\n",
        "port n1 hsn0 queue=1 mtu=70000 tx_rate=1 rx_rate=1\n",
        "port n1 hsn0 queue=1 domain=99999999 tx_rate=1 rx_rate=1\n", "cable\n"}) {
    EXPECT_THROW(parse_config(text), Failure) << text;
  }
}

}  // namespace
}  // namespace wireproof::wire
