// Ranks of the libfabric transport, each in a separate thread.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "tests/tcp_meeting.hpp"
#include "transport/ofi/library.hpp"
#include "transport/openers.hpp"

namespace wireproof::ofi {

using tcp::message_of;

inline bool libfabric_is_here() {
  return message_of([] { Library(""); }).empty();
}

inline Plan plan_of(const std::string& transport, const std::string& points = "") {
  return parse_plan("wireproof-plan 1\nrun id=test\ntransport kind=ofi" +
                    (transport.empty() ? "" : " " + transport) +
                    "\nrank index=0 host=a address=127.0.0.1\n"
                    "rank index=1 host=b address=127.0.0.1\n"
                    "rank index=2 host=c address=127.0.0.1\n"
                    "rank index=3 host=d address=127.0.0.1\n" +
                    points);
}

/// `ranks` ranks run `task(transport, rank)` and leave together.
template <class Task>
void run_ranks(int ranks, const Plan& plan, Task task) {
  const std::string meet = tcp::free_meeting_point();
  const auto member = [&](int rank) {
    OpenRequest request;
    request.rank = rank;
    request.ranks = ranks;
    request.meet = meet;
    const auto transport = open_ofi(request);
    transport->configure(plan);
    task(*transport, rank);
    transport->close();
  };
  std::vector<std::future<void>> others;
  for (int rank = 1; rank < ranks; ++rank) {
    others.push_back(std::async(std::launch::async, member, rank));
  }
  member(0);
  for (auto& other : others) other.get();
}

}  // namespace wireproof::ofi
