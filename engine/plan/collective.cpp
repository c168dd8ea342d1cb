#include "plan/collective.hpp"

#include <string>

namespace wireproof {
namespace {

constexpr std::size_t kMostOfAll = std::size_t{1} << 31;  // of all blocks of one member

std::string asked(const Point& point) {
  return "message_bytes=" + std::to_string(point.message_bytes) + " was asked";
}

}  // namespace

void read_collective(Statement& line, Point& point) {
  const std::string name(name_of(point.pattern));
  const std::size_t bytes = point.message_bytes;
  if (const auto blocking = line.take_number<int>("blocking", 0, 1))
    point.blocking = *blocking == 1;
  if (point.pattern == Pattern::barrier) {
    if (bytes != 0)
      line.fail("a barrier moves nothing: message_bytes must be 0, and " + asked(point));
    return;
  }
  if (bytes == 0) line.fail(name + " of nothing is no operation: message_bytes must be 1 or more");
  const std::size_t unit = row_of(point.pattern).unit_bytes;
  if (bytes % unit != 0) {
    line.fail(name + " adds numbers of " + std::to_string(unit) +
              " bytes: message_bytes must be a multiple of " + std::to_string(unit) + ", and " +
              asked(point));
  }
  const bool each = point.pattern == Pattern::allgather || point.pattern == Pattern::alltoall;
  if (each && bytes > kMostOfAll / point.members.size()) {
    line.fail(name + " of " + std::to_string(point.members.size()) +
              " members keeps a block of each, and " + asked(point) +
              ": that is more than 2 GiB at every member; lower it");
  }
}

}  // namespace wireproof
