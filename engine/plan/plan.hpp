// The plan as a value. docs/reference/engine-interface.md describes its text form and the defaults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/pattern.hpp"

namespace wireproof {

enum class TransportKind { null, model, mpi, tcp, ofi };
inline constexpr auto kTransportNames =
    std::to_array<std::string_view>({"null", "model", "mpi", "tcp", "ofi"});

enum class WindowKind { allocate, create };
inline constexpr auto kWindowKindNames = std::to_array<std::string_view>({"allocate", "create"});

enum class RingOrder { natural, random };
inline constexpr auto kRingOrderNames = std::to_array<std::string_view>({"natural", "random"});

enum class Detail { full, brief };
enum class Pin { none, nic };
enum class Teardown { none, point };

constexpr std::string_view name_of(TransportKind kind) {
  return kTransportNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(WindowKind kind) {
  return kWindowKindNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(RingOrder order) {
  return kRingOrderNames[static_cast<std::size_t>(order)];
}

/// Where rank `index` is claimed to run, and the NIC that it is claimed to use.
struct RankPlace {
  int index = 0;
  std::string host;
  std::string nic;
  std::string address;
};

struct Policy {
  double latency_half_width = 0.02;  // relative to the median
  double bandwidth_half_width = 0.01;
  int point_budget_ms = 1000;
  int point_deadline_ms = 30'000;
  int run_deadline_ms = 600'000;
  std::size_t in_flight_bytes = 4 << 20;
  int block_us = 1500;
  int min_blocks = 10;
  int max_batches = 2000;
  int warmup_min_us = 2000;
  int warmup_min_operations = 1000;
  bool yield = false;
  Pin pin = Pin::none;
  Teardown teardown = Teardown::none;  ///< when a pair's connection is closed
};

/// Ports whose driver's name matches the shell pattern `driver` show their last bytes within `ms`.
struct LateDriver {
  std::string driver;
  int ms = 0;
};

/// `root`: the folder whose files are read in place of this machine's; "{host}" and "{rank}" in it
/// are replaced by the rank's. `settle_ms`: refresh delay of the slowest counter, if known; `late`:
/// the drivers for which it is known.
struct WitnessPolicy {
  int idle_ms = 200;
  std::optional<int> settle_ms;
  std::string root = "/";
  std::vector<LateDriver> late;
};

/// What transport ofi requests from libfabric; "" leaves the choice to libfabric. `library`: the
/// file of the libfabric. `messages`: "tagged" or "msg". `completion`: "transmit" or "delivery".
/// `exchange`: "meeting" or "mpi": how the ranks exchange their addresses.
struct Libfabric {
  std::string provider;
  std::string library;
  std::string messages = "tagged";
  std::string completion;
  std::string exchange;
};

/// The known truth of the model transport.
struct ModelWorld {
  double latency_ns = 0;
  double gap_ns_per_byte = 0;
  double overhead_ns = 0;
  std::size_t eager_limit_bytes = 0;
  double rendezvous_ns = 0;
  double noise = 0;
  double stall = 0;
  bool shared = false;  ///< messages in flight share the wire instead of crossing one after another
};

/// A planted fault of the model: `rank` sends (`tx`) and receives (`rx`) at that share of the rate,
/// and each message that it sends or receives takes `latency_ns` longer.
struct ModelFault {
  int rank = 0;
  double tx = 1;
  double rx = 1;
  double latency_ns = 0;
};

/// A counter file of `rank`'s tree that the model updates as an adapter would: its start value, its
/// increase for each byte and message that the rank sends (tx) and receives (rx), and other traffic
/// between `from_ms` and `to_ms` of the run (0: to its end). It is updated before each reading, or
/// at multiples of `refresh_ms` of real time; it wraps at `width` bits, or stops there (`pegs`).
struct ModelCounter {
  int rank = 0;
  std::string path;       // relative to the root
  std::string statistic;  // for a file of driver statistics: the part of the path after '#'
  std::uint64_t start = 0;
  int width = 64;
  bool pegs = false;
  int refresh_ms = 0;
  double tx_byte = 0;
  double rx_byte = 0;
  double tx_message = 0;
  double rx_message = 0;
  double per_second = 0;
  int from_ms = 0;
  int to_ms = 0;
  int line = 0;  // of the plan's text
};

struct FactRequest {
  enum class Kind { file, glob, command };
  Kind kind = Kind::file;
  std::string path;
  std::vector<std::string> argv;
  std::size_t limit_bytes = 65536;
  int timeout_ms = 2000;
};

struct Point {
  std::int64_t id = 0;
  Pattern pattern = Pattern::pingpong;
  Form form = Form::latency;
  std::size_t message_bytes = 0;
  int window = 64;
  Formula formula = Formula::robust;
  WindowKind window_kind = WindowKind::allocate;
  int repeat = 0;
  std::vector<std::pair<int, int>> pairs;  // origin, target; only pairs that were kept
  int highest_rank = -1;                   // of all pairs, kept or not
  Detail detail = Detail::full;
  int threads = 1;           // per rank, of the pattern threads
  int partitions = 1;        // per message, of the pattern partitioned
  std::vector<int> members;  // for a group pattern, in the order of their numbers
  RingOrder order = RingOrder::natural;
  bool blocking = true;              // false if a collective is non-blocking
  int watched_pairs = 0;             // for congestion: the first pairs of the members
  std::size_t load_bytes = 1 << 16;  // for congestion: per message of the disturbing streams
  int line = 0;                      // line of the plan's text, for errors that are detected later
  std::optional<int> budget_ms;
  std::int64_t iterations = 0;
  /// With fewer operations, only the budget ends the point, not the precision.
  std::int64_t least_operations = 0;
};

struct Plan {
  std::string run_id;
  std::uint64_t seed = 0;
  TransportKind transport = TransportKind::null;
  std::string expect;
  Libfabric libfabric;
  std::vector<RankPlace> ranks;
  Policy policy;
  WitnessPolicy witness;
  std::optional<ModelWorld> model;
  std::vector<ModelFault> model_faults;
  std::vector<ModelCounter> model_counters;
  std::vector<FactRequest> facts;
  std::vector<Point> points;
};

/// Parses the plan's text. Throws Failure (bad_plan) that names the line and the key.
///
/// `plays`: the ranks whose pairs are kept (empty: all). A rank among ten thousand has one pair of
/// a point; keeping the other five thousand would cost each host more memory than the measurement.
Plan parse_plan(std::string_view text, const std::function<bool(int)>& plays = {});

}  // namespace wireproof
