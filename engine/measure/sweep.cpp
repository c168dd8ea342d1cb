#include "measure/sweep.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text_split.hpp"
#include "measure/floor.hpp"
#include "measure/group_leader.hpp"
#include "measure/group_record.hpp"
#include "measure/origin.hpp"
#include "measure/point_record.hpp"
#include "record/frames.hpp"

namespace wireproof {
namespace {

constexpr int kSlice = 256;  // ranks

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string_view left = text;
  while (const auto line = take_line(left)) lines.emplace_back(*line);
  return lines;
}

void append(std::string& list, const std::string& element) {
  if (!list.empty() && !element.empty()) list += ',';
  list += element;
}

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

Sweep::Sweep(Transport& transport, const Plan& plan, HostClock& clock, FrameSink& sink,
             std::string_view abi)
    : transport_(transport),
      group_(transport.group()),
      plan_(plan),
      clock_(clock),
      sink_(sink),
      abi_(abi),
      evidence_(plan, own_ranks()),
      readings_(evidence_, transport, plan),
      sentinel_(clock) {}

ExitStatus Sweep::run() {
  began_ns_ = monotonic_ns();
  check_plan();
  introduce();
  write_facts();
  write_floors();
  watch_idle();
  for (const Point& point : plan_.points) run_point(point);
  write_totals();
  close();
  return failed_ == 0 ? ExitStatus::ok : ExitStatus::point_failed;
}

void Sweep::emit(std::string frame) {
  if (leads()) sink_.write(std::move(frame));
}

/// Every process's lines, which rank 0 writes in order of rank.
void Sweep::emit_lines(const std::string& own) {
  for (const std::string& text : group_.gather(own)) {
    for (const std::string& line : lines_of(text)) sink_.write(line);
  }
}

std::vector<int> Sweep::own_ranks() {
  std::vector<int> ranks;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (transport_.owns(rank)) ranks.push_back(rank);
  }
  return ranks;
}

/// One line per rank, which all ranks know afterwards.
std::vector<std::string> Sweep::share(const std::string& own) {
  std::string all;
  for (const std::string& text : group_.gather(own)) all += text;
  group_.broadcast(all);
  return lines_of(all);
}

void Sweep::introduce() {
  const ClockFacts clock = transport_.virtual_clock().value_or(clock_.facts());
  emit(open_frame(plan_, {abi_, group_.size(), clock}));
  std::string identities;
  const std::vector<int> own = own_ranks();
  for (const int rank : own) identities += evidence_.identity_line(rank) + '\n';
  evidence_.learn_identities(share(identities));
  evidence_.learn_claims(plan_.ranks, own);
  pin();
  const LibraryFacts library = transport_.library();
  std::map<int, const std::string*> claimed;
  for (const RankPlace& place : plan_.ranks) {
    if (transport_.owns(place.index)) claimed[place.index] = &place.host;
  }
  std::string frames;
  for (const int rank : own) {
    const auto found = claimed.find(rank);
    frames += evidence_.host_frame(rank, found == claimed.end() ? "" : *found->second, library);
    frames += '\n';
  }
  emit_lines(frames);
}

/// Places the process near the claimed NIC, if the plan requests it; never if time is not the
/// host's or one process simulates several ranks.
void Sweep::pin() {
  const int self = group_.rank();
  if (plan_.policy.pin != Pin::nic || transport_.virtual_clock() || own_ranks().size() != 1) return;
  for (const RankPlace& place : plan_.ranks) {
    if (place.index == self) evidence_.pin_near(place.nic, self);
  }
}

void Sweep::write_facts() {
  if (plan_.facts.empty()) return;
  std::string frames;
  for (const int rank : own_ranks()) frames += evidence_.fact_frames(rank, plan_.facts);
  emit_sliced(frames);
}

/// Proceeds in slices, because the texts of ten thousand hosts together would fill rank 0's memory.
void Sweep::emit_sliced(const std::string& own) {
  const bool local = own_ranks().size() > 1;
  for (int first = 0; first < group_.size(); first += kSlice) {
    const bool mine = group_.rank() >= first && group_.rank() < first + kSlice;
    emit_lines(mine ? own : std::string());
    if (local) return;
  }
}

void Sweep::write_floors() {
  if (!leads()) return;
  std::set<std::pair<Pattern, Form>> told;
  for (const Point& point : plan_.points) {
    if (!told.insert({point.pattern, point.form}).second) continue;
    emit(floor_frame(point.pattern, point.form,
                     harness_floor_ns(point.pattern, point.form, clock_)));
  }
}

/// Changes of the counters while nothing is sent.
void Sweep::watch_idle() {
  group_.barrier();
  readings_.idle();
  std::string frames;
  for (const int rank : own_ranks()) frames += evidence_.idle_frame(rank) + '\n';
  emit_lines(frames);
}

std::string Sweep::witnesses_of(const Point& point, std::uint64_t payload_bytes) {
  std::optional<std::uint64_t> brief;
  if (point.detail == Detail::brief) brief = payload_bytes;
  std::string witnesses;
  for (const int rank : own_ranks()) {
    // If nothing is counted, the reading rank's frame contains everything, even for ten thousand
    // ranks.
    if (!readings_.has_windows() && evidence_.reader_of(rank) != rank) continue;
    append(witnesses, evidence_.witness_json(rank, brief, readings_.has_windows()));
  }
  return witnesses;
}

void Sweep::run_point(const Point& point) {
  group_.barrier();
  emit(start_frame(point.id));
  watchdog::begin_point(point.id, plan_.policy.point_deadline_ms);
  PointParts parts{.started_unix_ns = unix_ns()};
  const std::int64_t start_ns = monotonic_ns();
  readings_.before_point();
  group_.barrier();
  Records records = measure_pairs(point);
  if (is_group(point.pattern)) measure_group(point, records);
  group_.barrier();
  readings_.after_point(records.payload);
  parts.elapsed_ns = monotonic_ns() - start_ns;
  // that rank was in time; this one is late
  watchdog::begin_point(point.id, plan_.policy.point_deadline_ms);
  readings_.learn_to_settle(records.payload);
  if (readings_.has_windows()) group_.barrier();  // no rank reports while others still watch
  const std::string witnesses = witnesses_of(point, records.payload.both());
  std::string trouble;
  const std::string own =
      records.pairs + '\n' + witnesses + '\n' + records.trouble + '\n' + records.group + '\n';
  for (const std::string& text : group_.gather(own)) {
    const std::vector<std::string> lines = lines_of(text);
    append(parts.pairs, lines.at(0));
    append(parts.witness, lines.at(1));
    if (trouble.empty()) trouble = lines.at(2);
    if (parts.group.empty()) parts.group = lines.at(3);
  }
  watchdog::end_point();
  if (!trouble.empty()) emit(error_frame("cannot-begin", trouble, 0, point.id));
  failed_ += trouble.empty() ? 0 : 1;
  emit(point_frame(point, parts));
  if (plan_.policy.teardown == Teardown::point) give_up_connections();
}

/// All pairs of the point are done (after the barrier above), so no end waits for a connection that
/// is closed.
void Sweep::give_up_connections() {
  bounces_.clear();
  transport_.forget_pairs();
}

/// Runs the pairs of this process; returns the records of those that it originates.
Sweep::Records Sweep::measure_pairs(const Point& point) {
  Records records;
  for (const auto& [origin, target] : point.pairs) {
    if (!transport_.owns(origin) && !transport_.owns(target)) continue;
    const EndContext context = context_of(point, origin, target);
    if (!transport_.owns(origin)) watchdog::wait_for(origin);
    if (!transport_.owns(target)) watchdog::wait_for(target);
    transport_.run_pair(origin, target, clock_,
                        {.originate = [&](Pair& pair) { originate(pair, context, records); },
                         .answer =
                             [&](Pair& pair) {
                               try {
                                 records.payload += serve_target(pair, context);
                               } catch (const CannotBegin&) {
                                 // The origin saw the same failure and reports it.
                               }
                             }});
    watchdog::busy();
  }
  return records;
}

/// The members' part; member 0 keeps the record.
void Sweep::measure_group(const Point& point, Records& records) {
  const bool member = std::any_of(point.members.begin(), point.members.end(),
                                  [this](int rank) { return transport_.owns(rank); });
  if (!member) return;
  const bool virtual_time = transport_.virtual_clock().has_value();
  const GroupContext context{.point = &point,
                             .policy = &plan_.policy,
                             .seed = plan_.seed,
                             .moves_payload = transport_.moves_payload(),
                             .host_clock = virtual_time ? nullptr : &clock_};
  if (own_ranks().size() == 1) watchdog::wait_for_others();
  transport_.run_group(point.members, clock_, [&](GroupEnd& end) {
    if (end.member() != 0) {
      records.payload += GroupMember(end, context).serve();
      return;
    }
    const GroupOutcome outcome = GroupLeader(end, context).run();
    records.payload += {.sent_bytes = outcome.sent_bytes.front(),
                        .received_bytes = outcome.received_bytes.front()};
    records.group = group_json(outcome, point);
  });
  watchdog::busy();
}

void Sweep::originate(Pair& pair, const EndContext& context, Records& records) {
  PairOutcome outcome;
  try {
    outcome = Origin(pair, context).run();
  } catch (const CannotBegin& failure) {
    outcome = {};
    outcome.origin = context.origin;
    outcome.target = context.target;
    outcome.begun = false;
    records.trouble = failure.what();
  }
  if (!transport_.owns(context.target)) {
    records.payload += {.sent_bytes = outcome.payload_forward_bytes,
                        .received_bytes = outcome.payload_backward_bytes};
  }
  append(records.pairs, pair_json(outcome, *context.point));
}

EndContext Sweep::context_of(const Point& point, int origin, int target) {
  const bool virtual_time = transport_.virtual_clock().has_value();
  return {.point = &point,
          .policy = &plan_.policy,
          .seed = plan_.seed,
          .origin = origin,
          .target = target,
          .moves_payload = transport_.moves_payload(),
          .host_clock = virtual_time ? nullptr : &clock_,
          .sentinel = virtual_time ? nullptr : &sentinel_,
          .bounce = bounce_of(origin, target)};
}

/// Both ends open it together at the pair's first point; null if they share no memory, or one
/// process.
sentinel::Bounce* Sweep::bounce_of(int origin, int target) {
  const bool both = transport_.owns(origin) && transport_.owns(target);
  if (both || !evidence_.shares_memory(origin, target)) return nullptr;
  const auto [place, fresh] = bounces_.try_emplace({origin, target});
  if (fresh) {
    const auto side = transport_.owns(origin) ? sentinel::Side::origin : sentinel::Side::target;
    place->second = sentinel::Bounce::open(plan_.run_id, origin, target, side);
  }
  return place->second.get();
}

/// The largest number of all ranks, because a rank that reads a host's counters need not know what
/// the others moved there.
int Sweep::longest(int own) {
  std::string largest = "0";
  for (const std::string& text : group_.gather(std::to_string(own)))
    if (std::stoi(text) > std::stoi(largest)) largest = text;
  group_.broadcast(largest);
  return std::stoi(largest);
}

/// The whole run, by each rank that reads: late counters have arrived by then.
void Sweep::write_totals() {
  group_.barrier();
  const int settle_ms = longest(readings_.settle_ms());
  const double settled_ns = readings_.end_run(settle_ms);
  if (settle_ms > 0 && longest(readings_.goes_on() ? 1 : 0) > 0) readings_.read_tail(settle_ms);
  group_.barrier();
  const bool full = std::any_of(plan_.points.begin(), plan_.points.end(),
                                [](const Point& point) { return point.detail == Detail::full; });
  std::optional<std::uint64_t> brief;
  if (!full) brief = readings_.payload_bytes();
  std::string frames;
  for (const int rank : own_ranks()) {
    const std::string frame = evidence_.total_frame(rank, brief, settled_ns);
    if (!frame.empty()) frames += frame + '\n';
  }
  emit_sliced(frames);
}

void Sweep::close() {
  std::uint64_t peak = 0;
  for (const std::string& text : group_.gather(std::to_string(peak_rss_bytes()))) {
    peak = std::max<std::uint64_t>(peak, std::stoull(text));
  }
  emit(close_frame(plan_.points.size(), failed_, monotonic_ns() - began_ns_, peak));
}

}  // namespace wireproof
