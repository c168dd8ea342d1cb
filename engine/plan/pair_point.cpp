#include "plan/pair_point.hpp"

#include <string>

namespace wireproof {
namespace {

constexpr int kMostThreads = 256;
constexpr int kMostPartitions = 4096;

std::string asked(const Point& point) {
  return "and message_bytes=" + std::to_string(point.message_bytes) + " was asked";
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

void check_pair_size(const Statement& line, const Point& point) {
  const PatternRow& row = row_of(point.pattern);
  const std::size_t bytes = point.message_bytes;
  const auto partitions = static_cast<std::size_t>(point.partitions);
  if (row.access == Access::word && bytes != row.unit_bytes) {
    line.fail(std::string(row.name) + " works on one word of " + std::to_string(row.unit_bytes) +
              " bytes, " + asked(point));
  }
  if (row.access == Access::sum && (bytes == 0 || bytes % row.unit_bytes != 0)) {
    line.fail(std::string(row.name) +
              " adds 64-bit integers: message_bytes must be a multiple of " +
              std::to_string(row.unit_bytes) + ", " + asked(point));
  }
  if (point.pattern == Pattern::partitioned && (bytes == 0 || bytes % partitions != 0)) {
    line.fail(
        "a partitioned message needs equal partitions of a byte or more: message_bytes must "
        "be a multiple of partitions=" +
        std::to_string(point.partitions) + ", " + asked(point));
  }
}

}  // namespace wireproof
