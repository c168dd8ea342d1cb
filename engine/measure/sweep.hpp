// One run: identities, the floors, the idle window, then every point in the plan's order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/failure.hpp"
#include "measure/evidence.hpp"
#include "measure/readings.hpp"
#include "measure/session.hpp"
#include "measure/watched_group.hpp"
#include "plan/plan.hpp"
#include "record/frame_sink.hpp"
#include "transport/concept.hpp"

namespace wireproof {

class Sweep {
 public:
  Sweep(Transport& transport, const Plan& plan, HostClock& clock, FrameSink& sink,
        std::string_view abi);
  ExitStatus run();

 private:
  void check_plan() const;
  void introduce();
  void pin();
  void write_facts();
  void write_floors();
  void watch_idle();
  int longest(int own);
  void write_totals();
  void run_point(const Point& point);
  struct Records {
    std::string pairs;    // elements of the point frame, separated by commas
    std::string group;    // of the point frame, or ""
    std::string trouble;  // why a pair could not begin
    Traffic payload;      // of this process
  };
  Records measure_pairs(const Point& point);
  void measure_group(const Point& point, Records& records);
  void originate(Pair& pair, const EndContext& context, Records& records);
  EndContext context_of(const Point& point, int origin, int target);
  sentinel::Bounce* bounce_of(int origin, int target);
  void give_up_connections();
  void close();

  bool leads() { return group_.rank() == 0; }
  void emit(std::string frame);
  void emit_lines(const std::string& own);
  void emit_sliced(const std::string& own);
  std::vector<int> own_ranks();
  std::string witnesses_of(const Point& point, std::uint64_t payload_bytes);
  std::vector<std::string> share(const std::string& own);

  Transport& transport_;
  WatchedGroup group_;
  const Plan& plan_;
  HostClock& clock_;
  FrameSink& sink_;
  std::string_view abi_;
  Evidence evidence_;
  Readings readings_;
  sentinel::Sentinel sentinel_;
  std::map<std::pair<int, int>, std::unique_ptr<sentinel::Bounce>> bounces_;
  std::int64_t began_ns_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace wireproof
