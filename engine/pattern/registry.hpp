// Which loop runs a point: one line per pattern, form and formula.
#pragma once

#include <array>
#include <memory>

#include "base/failure.hpp"
#include "pattern/atomic.hpp"
#include "pattern/pattern_runner.hpp"
#include "pattern/prepared.hpp"
#include "pattern/suites.hpp"
#include "pattern/threads.hpp"

namespace wireproof {

template <Link L, class C>
struct RunnerEntry {
  Pattern pattern;
  Form form;
  Formula formula;
  std::unique_ptr<Runner> (*make)(L&, C, EndMemory&, const PointShape&);
};

template <Link L, class C, template <class, class> class Loops, bool kSums = false>
std::unique_ptr<Runner> bind_runner(L& link, C clock, EndMemory& memory, const PointShape& shape) {
  return std::make_unique<PatternRunner<L, C, Loops, kSums>>(link, clock, memory, shape);
}

/// The entries that messages alone need.
template <Link L, class C>
constexpr auto two_sided_entries() {
  using enum Pattern;
  using enum Formula;
  return std::to_array<RunnerEntry<L, C>>({
      {pingpong, Form::latency, robust, bind_runner<L, C, PingPong>},
      {pingpong, Form::latency, osu, bind_runner<L, C, OsuPingPong, true>},
      {pingpong, Form::latency, imb_mpi1, bind_runner<L, C, PingPong>},
      {pingpong, Form::latency, imb_p2p, bind_runner<L, C, TouchingPingPong>},
      {stream, Form::stream, robust, bind_runner<L, C, Stream>},
      {stream, Form::stream, osu, bind_runner<L, C, OsuStream, true>},
      {stream, Form::stream, imb_mpi1, bind_runner<L, C, Uniband, true>},
      {exchange, Form::stream, robust, bind_runner<L, C, Exchange>},
      {exchange, Form::stream, osu, bind_runner<L, C, OsuExchange, true>},
      {exchange, Form::stream, imb_mpi1, bind_runner<L, C, Sendrecv, true>},
  });
}

template <Link L, class C>
constexpr auto remote_entries() {
  using enum Pattern;
  using enum Formula;
  return std::to_array<RunnerEntry<L, C>>({
      {put, Form::latency, robust, bind_runner<L, C, PutLatency>},
      {put, Form::latency, osu, bind_runner<L, C, PutLatency>},
      {put, Form::stream, robust, bind_runner<L, C, PutStream>},
      {put, Form::stream, osu, bind_runner<L, C, PutStream>},
      {get, Form::latency, robust, bind_runner<L, C, GetLatency>},
      {get, Form::latency, osu, bind_runner<L, C, GetLatency>},
      {get, Form::stream, robust, bind_runner<L, C, GetStream>},
      {get, Form::stream, osu, bind_runner<L, C, GetStream>},
      {accumulate, Form::latency, robust, bind_runner<L, C, AccumulateLatency>},
      {accumulate, Form::latency, osu, bind_runner<L, C, AccumulateLatency>},
      {accumulate, Form::stream, robust, bind_runner<L, C, AccumulateStream>},
      {fetch_and_op, Form::latency, robust, bind_runner<L, C, FetchAndOp>},
      {fetch_and_op, Form::latency, osu, bind_runner<L, C, FetchAndOp>},
      {compare_and_swap, Form::latency, robust, bind_runner<L, C, CompareAndSwap>},
      {compare_and_swap, Form::latency, osu, bind_runner<L, C, CompareAndSwap>},
  });
}

template <Link L, class C>
constexpr auto prepared_entries() {
  using enum Pattern;
  using enum Formula;
  return std::to_array<RunnerEntry<L, C>>({
      {persistent, Form::latency, robust, bind_runner<L, C, PersistentPingPong>},
      {persistent, Form::latency, osu, bind_runner<L, C, OsuPersistentPingPong, true>},
      {persistent, Form::stream, robust, bind_runner<L, C, PersistentStream>},
      {persistent, Form::stream, osu, bind_runner<L, C, OsuPersistentStream, true>},
      {partitioned, Form::latency, robust, bind_runner<L, C, PartitionedPingPong>},
      {partitioned, Form::stream, robust, bind_runner<L, C, PartitionedStream>},
  });
}

template <Link L, class C>
constexpr auto thread_entries() {
  using enum Pattern;
  using enum Formula;
  return std::to_array<RunnerEntry<L, C>>({
      {threads, Form::latency, robust, bind_team<L, C, PingPong>},
      {threads, Form::latency, osu, bind_team<L, C, OsuPingPong, true>},
      {threads, Form::stream, robust, bind_team<L, C, Stream>},
  });
}

/// Throws Failure when the link cannot do the pattern (plans are checked before, so that is a
/// defect of ours).
template <Link L, class C>
std::unique_ptr<Runner> make_runner(L& link, C clock, EndMemory& memory, const PointShape& shape) {
  std::unique_ptr<Runner> made;
  const auto look = [&](const auto& entries) {
    for (const auto& e : entries) {
      if (e.pattern != shape.pattern || e.form != shape.form || e.formula != shape.formula)
        continue;
      made = e.make(link, clock, memory, shape);
      return;
    }
  };
  look(two_sided_entries<L, C>());
  if constexpr (RemoteLink<L>) look(remote_entries<L, C>());
  if constexpr (PreparingLink<L>) look(prepared_entries<L, C>());
  if constexpr (ThreadedLink<L>) look(thread_entries<L, C>());
  if (made) return made;
  throw cannot_measure("no-pattern", "this transport has no " +
                                         std::string(name_of(shape.pattern)) + " by formula " +
                                         std::string(name_of(shape.formula)));
}

}  // namespace wireproof
