#include "measure/run.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "measure/sweep.hpp"
#include "plan/plan_text.hpp"
#include "record/frames.hpp"
#include "record/watchdog.hpp"
#include "transport/openers.hpp"

namespace wireproof {
namespace {

constexpr int kLastMessagesMs = 300;

std::unique_ptr<Transport> open_transport(TransportKind kind, const OpenRequest& request,
                                          const Variant& variant) {
  switch (kind) {
    case TransportKind::null:
      return open_null(request);
    case TransportKind::model:
      return open_model(request);
    case TransportKind::tcp:
      return open_tcp(request);
    case TransportKind::ofi:
      return variant.open_ofi(request);
    case TransportKind::mpi:
      return variant.open_mpi(request);
  }
  throw bad_plan("no such transport");
}

/// Before the transport is open, only the launcher, if there is one, determines the rank that reads
/// the plan.
struct Opening {
  std::string text;
  Plan plan;
  bool has_plan = false;
  OpenRequest request;
};

void read_plan(const Arguments& arguments, Opening& opening) {
  opening.text = read_plan_text(arguments.plan);
  opening.plan = parse_plan(opening.text);
  opening.has_plan = true;
  opening.request.plan = &opening.plan;
}

TransportKind started_as(const Arguments& arguments) {
  if (arguments.transport == name_of(TransportKind::ofi)) return TransportKind::ofi;
  return arguments.meet.empty() ? TransportKind::mpi : TransportKind::tcp;
}

/// Rank 0 knows the transport from the plan, the others from their command line.
TransportKind prepare(const Arguments& arguments, const Variant& variant, Opening& opening) {
  const auto seen = launcher_rank();
  opening.request.rank = arguments.rank.value_or(seen ? seen->rank : 0);
  opening.request.ranks = arguments.ranks.value_or(seen ? seen->ranks : 1);
  opening.request.meet = arguments.meet;
  const TransportKind started = started_as(arguments);
  if (opening.request.rank != 0) return started;
  try {
    read_plan(arguments, opening);
  } catch (const Failure&) {
    // The other ranks wait in the library's start-up: join them there, and report the failure to
    // all in agree().
    const bool by_mpi =
        started == TransportKind::mpi || (started == TransportKind::ofi && arguments.meet.empty());
    if (opening.request.ranks > 1 && variant.has_mpi && by_mpi) return started;
    throw;
  }
  return opening.plan.transport;
}

/// The problem with the plan on this rank as "code\nmessage", or "". Collective.
std::string trouble_with_plan(Transport& transport, Opening& opening, const Arguments& arguments) {
  std::string trouble;
  Group& group = transport.group();
  try {
    if (group.rank() == 0 && opening.text.empty()) opening.text = read_plan_text(arguments.plan);
  } catch (const Failure& failure) {
    trouble = failure.code() + '\n' + failure.what();
  }
  group.broadcast(opening.text);
  if (!trouble.empty()) return trouble;
  try {
    opening.plan = parse_plan(opening.text, [&](int rank) { return transport.owns(rank); });
    opening.text = {};
    transport.configure(opening.plan);
    return "";
  } catch (const Failure& failure) {
    return failure.code() + '\n' + failure.what();
  }
}

/// All ranks get the plan and agree that it can be carried out; the first rank that cannot do so
/// reports for all.
void agree(Transport& transport, Opening& opening, const Arguments& arguments) {
  Group& group = transport.group();
  const std::string trouble = trouble_with_plan(transport, opening, arguments);
  std::string first;
  for (const std::string& other : group.gather(trouble)) {
    if (first.empty()) first = other;
  }
  group.broadcast(first);
  if (first.empty()) return;
  const std::size_t cut = first.find('\n');
  const std::string code = first.substr(0, cut);
  throw Failure(code == "bad-plan" ? ExitStatus::bad_plan : ExitStatus::cannot_measure, code,
                first.substr(cut + 1));
}

/// True if the failure contains a peer that is gone: possibly only this rank knows the peer.
bool names_a_peer(const Failure& failure) {
  return failure.code() == "tcp-lost" || failure.code() == "tcp-stalled" ||
         failure.code() == "tcp-absent" || failure.code() == "ofi-lost";
}

int report(const Failure& failure, int rank) {
  const std::string position = watchdog::position();
  if (names_a_peer(failure) && !position.empty()) {
    std::fprintf(stderr, "wireproof-engine: %s: %s: %s\n", position.c_str(), failure.code().c_str(),
                 failure.what());
  } else if (rank == 0) {
    std::fprintf(stderr, "wireproof-engine: %s\n", failure.what());
  }
  if (rank == 0) {
    write_all(STDOUT_FILENO, error_frame(failure.code(), failure.what(), rank) + '\n');
  }
  return static_cast<int>(failure.status());
}

/// The name that the user gave, or else the host's name.
std::string name_of_host(const Plan& plan, int rank) {
  for (const RankPlace& place : plan.ranks) {
    if (place.index == rank && !place.host.empty()) return place.host;
  }
  char own[256] = {};
  return gethostname(own, sizeof own - 1) == 0 ? own : "";
}

/// The part of the run that all ranks leave together, so that the transport is closed properly.
int run_together(Transport& transport, Opening& opening, const Arguments& arguments,
                 const Variant& variant, HostClock& clock) {
  const int rank = transport.group().rank();
  try {
    watchdog::begin_meeting({rank, transport.group().size(), name_of_host(opening.plan, rank)});
    agree(transport, opening, arguments);
    watchdog::begin_run({rank, transport.group().size(), name_of_host(opening.plan, rank)},
                        opening.plan.policy.run_deadline_ms);
    FrameSink sink(STDOUT_FILENO);
    const ExitStatus status = Sweep(transport, opening.plan, clock, sink, variant.abi).run();
    watchdog::end_run();
    transport.close();
    return static_cast<int>(status);
  } catch (const Failure& failure) {
    watchdog::end_run();
    const int status = report(failure, rank);
    if (failure.status() == ExitStatus::bad_plan || failure.code() == "library-mismatch") {
      transport.close();  // every rank is here
      return status;
    }
    // A launcher ends all ranks when rank 0 exits, so let the ranks that know the missing peer
    // report first.
    if (rank == 0 && names_a_peer(failure)) poll(nullptr, 0, kLastMessagesMs);
    std::_Exit(status);  // the other ranks may be anywhere in their program; the launcher ends them
  }
}

}  // namespace

int run(const Arguments& arguments, const Variant& variant, int argc, char** argv) {
  watchdog::install();
  Opening opening;
  opening.request.argc = &argc;
  opening.request.argv = &argv;
  try {
    HostClock clock;
    const TransportKind kind = prepare(arguments, variant, opening);
    const int rank = opening.request.rank;
    watchdog::begin_meeting({rank, opening.request.ranks, name_of_host(opening.plan, rank)});
    const auto transport = open_transport(kind, opening.request, variant);
    watchdog::install();  // libraries install their own handlers
    return run_together(*transport, opening, arguments, variant, clock);
  } catch (const Failure& failure) {
    return report(failure, opening.request.rank);
  }
}

}  // namespace wireproof
