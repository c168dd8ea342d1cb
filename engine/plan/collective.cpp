#include "plan/collective.hpp"

#include <string>

namespace wireproof {
namespace {

constexpr std::size_t kFloatBytes = 4;
constexpr std::size_t kMostOfAll = std::size_t{1} << 31;  // of one member's blocks together

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
  if (point.pattern == Pattern::allreduce && bytes % kFloatBytes != 0) {
    line.fail("allreduce adds numbers of 4 bytes: message_bytes must be a multiple of 4, and " +
              asked(point));
  }
  const bool each = point.pattern == Pattern::allgather || point.pattern == Pattern::alltoall;
  if (each && bytes > kMostOfAll / point.members.size()) {
    line.fail(name + " of " + std::to_string(point.members.size()) +
              " members keeps a block of each, and " + asked(point) +
              ": that is more than 2 GiB at every member; lower it");
  }
}

void check_collective_formula(const Statement& line, const Point& point) {
  const bool suite = point.formula == Formula::osu || point.formula == Formula::imb_mpi1;
  if (point.formula == Formula::robust || (suite && point.blocking)) return;
  const std::string name(name_of(point.pattern));
  if (suite)
    line.fail("blocking=0 has only formula robust; known for the blocking " + name +
              ": robust, osu, imb-mpi1");
  line.fail("formula " + std::string(name_of(point.formula)) + " has no " + name +
            "; known for it: robust, osu, imb-mpi1");
}

}  // namespace wireproof
