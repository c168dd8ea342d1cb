#include "plan/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_set>

#include "base/statement.hpp"
#include "plan/formula.hpp"
#include "plan/members.hpp"
#include "plan/model_counter.hpp"
#include "plan/pair_point.hpp"

namespace wireproof {
namespace {

constexpr std::array<std::string_view, 2> kDetails = {"full", "brief"};
constexpr std::array<std::string_view, 2> kMessages = {"tagged", "msg"};
constexpr std::array<std::string_view, 2> kCompletions = {"transmit", "delivery"};
constexpr std::array<std::string_view, 2> kExchanges = {"meeting", "mpi"};
constexpr std::array<std::string_view, 2> kPins = {"none", "nic"};
constexpr std::array<std::string_view, 2> kTeardowns = {"none", "point"};
constexpr std::array<std::string_view, 3> kFactKinds = {"file", "glob", "command"};

constexpr int kMost = std::numeric_limits<int>::max();
constexpr std::size_t kLargestMessage = std::size_t{1} << 30;  // MPI counts are int
constexpr int kLargestWindow = 1024;
constexpr int kLongestSettleMs = 60'000;

/// The plan while it is read, and the items that later lines must not repeat.
struct Draft : Plan {
  const std::function<bool(int)>* plays = nullptr;
  std::unordered_set<int> placed;
  std::unordered_set<int> faulty;
  std::unordered_set<std::int64_t> point_ids;

  bool keeps(int rank) const { return !*plays || (*plays)(rank); }
};

void read_run(Statement& line, Draft& plan) {
  assign(plan.run_id, line.take("id"));
  assign(plan.seed,
         line.take_number<std::uint64_t>("seed", 0, std::numeric_limits<std::uint64_t>::max()));
}

void read_transport(Statement& line, Draft& plan) {
  const auto kind = line.take_choice<TransportKind>("kind", kTransportNames);
  if (!kind) line.fail("transport needs kind=");
  plan.transport = *kind;
  assign(plan.expect, line.take("expect"));
  Libfabric& libfabric = plan.libfabric;
  assign(libfabric.provider, line.take("provider"));
  assign(libfabric.library, line.take("library"));
  if (const auto chosen = line.take_choice<std::size_t>("messages", kMessages)) {
    libfabric.messages = kMessages[*chosen];
  }
  if (const auto chosen = line.take_choice<std::size_t>("completion", kCompletions)) {
    libfabric.completion = kCompletions[*chosen];
  }
  if (const auto chosen = line.take_choice<std::size_t>("exchange", kExchanges)) {
    libfabric.exchange = kExchanges[*chosen];
  }
}

void read_rank(Statement& line, Draft& plan) {
  RankPlace place;
  const auto index = line.take_number<int>("index", 0, kMostRanks);
  if (!index) line.fail("rank needs index=");
  place.index = *index;
  if (!plan.placed.insert(*index).second) {
    line.fail("rank " + std::to_string(*index) + " comes twice");
  }
  assign(place.host, line.take("host"));
  assign(place.nic, line.take("nic"));
  assign(place.address, line.take("address"));
  plan.ranks.push_back(std::move(place));
}

void read_policy(Statement& line, Draft& plan) {
  Policy& p = plan.policy;
  assign(p.latency_half_width, line.take_number<double>("latency_half_width", 1e-6, 1.0));
  assign(p.bandwidth_half_width, line.take_number<double>("bandwidth_half_width", 1e-6, 1.0));
  assign(p.point_budget_ms, line.take_number<int>("point_budget_ms", 1, kMost));
  assign(p.point_deadline_ms, line.take_number<int>("point_deadline_ms", 1, kMost));
  assign(p.run_deadline_ms, line.take_number<int>("run_deadline_ms", 1, kMost));
  assign(p.in_flight_bytes, line.take_number<std::size_t>("in_flight_bytes", 1, kLargestMessage));
  assign(p.block_us, line.take_number<int>("block_us", 1, 10'000'000));
  assign(p.min_blocks, line.take_number<int>("min_blocks", 1, 1'000'000));
  assign(p.max_batches, line.take_number<int>("max_batches", 1, 1'000'000));
  assign(p.warmup_min_us, line.take_number<int>("warmup_min_us", 0, 60'000'000));
  assign(p.warmup_min_operations, line.take_number<int>("warmup_min_operations", 0, 100'000'000));
  if (const auto yield = line.take_number<int>("yield", 0, 1)) p.yield = *yield == 1;
  assign(p.pin, line.take_choice<Pin>("pin", kPins));
  assign(p.teardown, line.take_choice<Teardown>("teardown", kTeardowns));
}

/// `bnxt_en:2500`: refresh delay of the counters of a driver's ports.
LateDriver late_driver(const Statement& line, const std::string& item) {
  const std::size_t colon = item.rfind(':');
  LateDriver found{item.substr(0, colon)};
  if (colon != std::string::npos) {
    const char* end = item.data() + item.size();
    const auto read = std::from_chars(item.data() + colon + 1, end, found.ms);
    if (read.ec == std::errc() && read.ptr == end && found.ms >= 0 && found.ms <= kLongestSettleMs)
      return found;
  }
  line.fail("late=" + item + " is not DRIVER:MS with 0 to " + std::to_string(kLongestSettleMs) +
            " ms");
}

void read_witness(Statement& line, Draft& plan) {
  assign(plan.witness.idle_ms, line.take_number<int>("idle_ms", 0, 60'000));
  plan.witness.settle_ms = line.take_number<int>("settle_ms", 0, kLongestSettleMs);
  assign(plan.witness.root, line.take("root"));
  for (const std::string& item : line.take_list("late"))
    plan.witness.late.push_back(late_driver(line, item));
}

void read_model(Statement& line, Draft& plan) {
  constexpr double kLongest = 1e12;
  ModelWorld w;
  const auto latency = line.take_number<double>("latency_ns", 0, kLongest);
  const auto gap = line.take_number<double>("gap_ns_per_byte", 0, kLongest);
  if (!latency || !gap) line.fail("model needs latency_ns= and gap_ns_per_byte=");
  w.latency_ns = *latency;
  w.gap_ns_per_byte = *gap;
  assign(w.overhead_ns, line.take_number<double>("overhead_ns", 0, kLongest));
  assign(w.eager_limit_bytes,
         line.take_number<std::size_t>("eager_limit_bytes", 0, kLargestMessage));
  assign(w.rendezvous_ns, line.take_number<double>("rendezvous_ns", 0, kLongest));
  assign(w.noise, line.take_number<double>("noise", 0, 1));
  assign(w.stall, line.take_number<double>("stall", 0, 1));
  if (const auto shared = line.take_number<int>("shared", 0, 1)) w.shared = *shared == 1;
  plan.model = w;
}

void read_model_fault(Statement& line, Draft& plan) {
  constexpr double kLongest = 1e12;
  constexpr double kSlowest = 1e-6;  // a share of 0 would never end
  ModelFault fault;
  const auto rank = line.take_number<int>("rank", 0, kMostRanks);
  if (!rank) line.fail("model_fault needs rank=");
  fault.rank = *rank;
  assign(fault.tx, line.take_number<double>("tx", kSlowest, 1));
  assign(fault.rx, line.take_number<double>("rx", kSlowest, 1));
  assign(fault.latency_ns, line.take_number<double>("latency_ns", 0, kLongest));
  if (!plan.faulty.insert(fault.rank).second) {
    line.fail("the fault of rank " + std::to_string(fault.rank) + " comes twice");
  }
  plan.model_faults.push_back(fault);
}

void read_fact(Statement& line, Draft& plan) {
  FactRequest fact;
  const auto kind = line.take_choice<FactRequest::Kind>("kind", kFactKinds);
  if (!kind) line.fail("fact needs kind=");
  fact.kind = *kind;
  assign(fact.path, line.take("path"));
  fact.argv = line.take_list("argv");
  assign(fact.limit_bytes, line.take_number<std::size_t>("limit_bytes", 1, kLargestMessage));
  assign(fact.timeout_ms, line.take_number<int>("timeout_ms", 1, 600'000));
  const bool command = fact.kind == FactRequest::Kind::command;
  if (command ? fact.argv.empty() : fact.path.empty()) {
    line.fail(command ? "a command needs argv=" : "a file or glob needs path=");
  }
  plan.facts.push_back(std::move(fact));
}

/// True once for each rank.
class Once {
 public:
  bool first_time(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (place >= seen_.size()) seen_.resize(place + 1);
    if (seen_[place]) return false;
    seen_[place] = true;
    return true;
  }

 private:
  std::vector<bool> seen_;
};

void take_pairs(Statement& line, const Draft& plan, Point& point) {
  Once once;
  for (const std::string& item : line.take_list("pairs")) {
    const std::size_t dash = item.find('-');
    const auto origin = parse_rank(std::string_view(item).substr(0, dash));
    const auto target = dash == std::string::npos
                            ? std::nullopt
                            : parse_rank(std::string_view(item).substr(dash + 1));
    if (!origin || !target) line.fail("pair \"" + item + "\" is not ORIGIN-TARGET");
    if (!once.first_time(*origin) || !once.first_time(*target)) {
      line.fail("pairs of one point must be disjoint, and \"" + item + "\" names a rank again");
    }
    point.highest_rank = std::max({point.highest_rank, *origin, *target});
    if (plan.keeps(*origin) || plan.keeps(*target)) point.pairs.emplace_back(*origin, *target);
  }
  if (point.highest_rank < 0) line.fail("point needs pairs=");
}

/// The requested form, if the pattern has it; else its default.
Form take_form(Statement& line, Pattern pattern) {
  const auto given = line.take_choice<Form>("form", kFormNames);
  const Form usual = has_form(pattern, Form::latency) ? Form::latency : Form::stream;
  if (!given || has_form(pattern, *given)) return given.value_or(usual);
  line.fail(std::string(name_of(pattern)) + " has only the form " + std::string(name_of(usual)));
}

void read_point(Statement& line, Draft& plan) {
  Point point;
  const auto id = line.take_number<std::int64_t>("id", 0, std::numeric_limits<std::int64_t>::max());
  const auto pattern = line.take_choice<Pattern>("pattern", kPatternNames);
  const auto bytes = line.take_number<std::size_t>("message_bytes", 0, kLargestMessage);
  if (!id || !pattern || !bytes) line.fail("point needs id=, pattern= and message_bytes=");
  point.id = *id;
  point.pattern = *pattern;
  point.message_bytes = *bytes;
  point.form = take_form(line, *pattern);
  assign(point.window, line.take_number<int>("window", 1, kLargestWindow));
  assign(point.formula, line.take_choice<Formula>("formula", kFormulaNames));
  assign(point.window_kind, line.take_choice<WindowKind>("window_kind", kWindowKindNames));
  assign(point.repeat, line.take_number<int>("repeat", 0, kMost));
  if (is_group(point.pattern)) {
    read_group(line, point);
  } else {
    take_pairs(line, plan, point);
  }
  point.line = line.number();
  assign(point.detail, line.take_choice<Detail>("detail", kDetails));
  point.budget_ms = line.take_number<int>("budget_ms", 1, kMost);
  assign(point.iterations, line.take_number<std::int64_t>("iterations", 0, 1'000'000'000));
  assign(point.least_operations,
         line.take_number<std::int64_t>("least_operations", 0, 1'000'000'000));
  read_pair_keys(line, point);
  check_pair_size(line, point);
  check_formula(line, point);
  if (!plan.point_ids.insert(*id).second) {
    line.fail("point id " + std::to_string(*id) + " comes twice");
  }
  const auto& members = point.members;
  const auto kept = [&](int rank) { return plan.keeps(rank); };
  if (std::none_of(members.begin(), members.end(), kept)) point.members = {};
  plan.points.push_back(std::move(point));
}

void read_model_counter(Statement& line, Draft& plan) {
  plan.model_counters.push_back(take_model_counter(line));
}

using Reader = void (*)(Statement&, Draft&);
constexpr std::pair<std::string_view, Reader> kReaders[] = {
    {"run", read_run},
    {"transport", read_transport},
    {"rank", read_rank},
    {"policy", read_policy},
    {"witness", read_witness},
    {"model", read_model},
    {"fact", read_fact},
    {"point", read_point},
    {"model_fault", read_model_fault},
    {"model_counter", read_model_counter},
};

Reader find_reader(const Statement& line) {
  std::string known;
  for (const auto& [keyword, reader] : kReaders) {
    if (keyword == line.keyword()) return reader;
    known.append(known.empty() ? "" : ", ").append(keyword);
  }
  line.fail("unknown keyword \"" + line.keyword() + "\"; known: " + known);
}

/// Statements that may occur once.
bool is_single(std::string_view keyword) {
  return keyword != "rank" && keyword != "fact" && keyword != "point" &&
         !keyword.starts_with("model_");
}

void check_whole(const Plan& plan, const std::set<std::string>& seen) {
  if (!seen.contains("transport")) throw bad_plan("plan: no transport statement");
  if (plan.transport == TransportKind::model && !plan.model) {
    throw bad_plan("plan: transport kind=model needs a model statement");
  }
  check_model_counters(plan);
}

}  // namespace

Plan parse_plan(std::string_view text, const std::function<bool(int)>& plays) {
  Draft plan;
  plan.plays = &plays;
  std::set<std::string> seen;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1) {
      if (line == "wireproof-plan 1") continue;
      throw bad_plan("plan line 1: must be \"wireproof-plan 1\"");
    }
    if (line.empty()) continue;
    Statement statement(line, number);
    const Reader reader = find_reader(statement);
    const bool first = seen.insert(statement.keyword()).second;
    if (!first && is_single(statement.keyword())) {
      statement.fail(statement.keyword() + " comes twice");
    }
    reader(statement, plan);
    statement.finish();
  }
  check_whole(plan, seen);
  return std::move(static_cast<Plan&>(plan));
}

}  // namespace wireproof
