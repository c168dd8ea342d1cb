#include "plan/pair_point.hpp"

#include "plan/pattern_kind.hpp"

namespace wireproof {
namespace {

constexpr int kMostThreads = 256;
constexpr int kMostPartitions = 4096;
constexpr std::size_t kWordBytes = 8;

std::string asked(const Point& point) {
  return "and message_bytes=" + std::to_string(point.message_bytes) + " was asked";
}

void check_size(const Statement& line, const Point& point) {
  const std::size_t bytes = point.message_bytes;
  const auto partitions = static_cast<std::size_t>(point.partitions);
  if (is_word_atomic(point.pattern) && bytes != kWordBytes) {
    line.fail(std::string(name_of(point.pattern)) + " works on one word of 8 bytes, " +
              asked(point));
  }
  if (point.pattern == Pattern::accumulate && (bytes == 0 || bytes % kWordBytes != 0)) {
    line.fail("accumulate adds 64-bit integers: message_bytes must be a multiple of 8, " +
              asked(point));
  }
  if (point.pattern == Pattern::partitioned && (bytes == 0 || bytes % partitions != 0)) {
    line.fail(
        "a partitioned message needs equal partitions of a byte or more: message_bytes must "
        "be a multiple of partitions=" +
        std::to_string(point.partitions) + ", " + asked(point));
  }
}

/// OSU 7.4: osu_acc_latency, osu_fop_latency, osu_cas_latency, osu_latency_persistent,
/// osu_bw_persistent, osu_latency_mt.
bool osu_has(const Point& point) {
  using enum Pattern;
  if (point.pattern == persistent || is_word_atomic(point.pattern)) return true;
  return (point.pattern == accumulate || point.pattern == threads) && point.form == Form::latency;
}

bool is_newer(Pattern pattern) {
  return pattern == Pattern::accumulate || is_word_atomic(pattern) || is_two_sided_variant(pattern);
}

}  // namespace

void read_pair_keys(Statement& line, Point& point) {
  if (point.pattern == Pattern::threads) {
    const auto threads = line.take_number<int>("threads", 1, kMostThreads);
    point.threads = threads.value_or(1);
  }
  if (point.pattern == Pattern::partitioned) {
    const auto partitions = line.take_number<int>("partitions", 1, kMostPartitions);
    point.partitions = partitions.value_or(1);
  }
}

void check_pair_point(const Statement& line, const Point& point) {
  if (!is_newer(point.pattern)) return;
  check_size(line, point);
  if (point.formula == Formula::robust) return;
  if (point.formula == Formula::osu && osu_has(point)) return;
  line.fail("formula " + std::string(name_of(point.formula)) + " has no " +
            std::string(name_of(point.pattern)) + " of form " + std::string(name_of(point.form)) +
            "; known for it: robust" + (osu_has(point) ? ", osu" : ""));
}

}  // namespace wireproof
