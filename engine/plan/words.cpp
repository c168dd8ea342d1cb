#include <array>

#include "plan/plan.hpp"

namespace wireproof {

std::string_view name_of(TransportKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"null", "model", "mpi", "tcp"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Pattern pattern) {
  constexpr std::array<std::string_view, 21> kNames = {
      "pingpong",     "stream",           "exchange",   "put",         "get",     "accumulate",
      "fetch_and_op", "compare_and_swap", "persistent", "partitioned", "threads", "message_rate",
      "ring",         "incast",           "all_to_all", "congestion",  "barrier", "broadcast",
      "allreduce",    "allgather",        "alltoall"};
  return kNames[static_cast<std::size_t>(pattern)];
}

std::string_view name_of(Form form) { return form == Form::latency ? "latency" : "stream"; }

std::string_view name_of(Formula formula) {
  constexpr std::array<std::string_view, 5> kNames = {"robust", "osu", "imb-mpi1", "imb-p2p",
                                                      "hpcc"};
  return kNames[static_cast<std::size_t>(formula)];
}

std::string_view name_of(WindowKind kind) {
  return kind == WindowKind::allocate ? "allocate" : "create";
}

std::string_view name_of(RingOrder order) {
  return order == RingOrder::natural ? "natural" : "random";
}

}  // namespace wireproof
