// Every numeric field of a plan: its default, the limits of its range, and values just beyond them.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "plan/plan.hpp"

namespace wireproof {
namespace {

struct Field {
  const char* statement;  // with its required fields
  const char* key;
  double usual;
  std::function<double(const Plan&)> value;
  const char* low;
  const char* high;
  const char* below;
  const char* above;
};

template <class T>
std::function<double(const Plan&)> of_policy(T Policy::*member) {
  return [member](const Plan& plan) { return static_cast<double>(plan.policy.*member); };
}
template <class T>
std::function<double(const Plan&)> of_model(T ModelWorld::*member) {
  return [member](const Plan& plan) { return static_cast<double>((*plan.model).*member); };
}
template <class T>
std::function<double(const Plan&)> of_point(T Point::*member) {
  return [member](const Plan& plan) { return static_cast<double>(plan.points.at(0).*member); };
}
template <class T>
std::function<double(const Plan&)> of_counter(T ModelCounter::*member) {
  return
      [member](const Plan& plan) { return static_cast<double>(plan.model_counters.at(0).*member); };
}
template <class T>
std::function<double(const Plan&)> of_fault(T ModelFault::*member) {
  return
      [member](const Plan& plan) { return static_cast<double>(plan.model_faults.at(0).*member); };
}
template <class T>
std::function<double(const Plan&)> of_fact(T FactRequest::*member) {
  return [member](const Plan& plan) { return static_cast<double>(plan.facts.at(0).*member); };
}

constexpr const char* kModel = "model latency_ns=1 gap_ns_per_byte=1";
constexpr const char* kPoint = "point id=1 pattern=put message_bytes=8 pairs=0-1";
constexpr const char* kCounter = "model_counter rank=0 path=a";
constexpr const char* kFile = "fact kind=file path=/proc/stat";

Plan read(const std::string& statement) {
  const bool has_model = statement.starts_with("model ");
  std::string text = "wireproof-plan 1\ntransport kind=model\n";
  if (!statement.starts_with("witness")) text += "witness root=/tmp/tree\n";
  text += statement + "\n";
  if (!has_model) text += std::string(kModel) + "\n";
  return parse_plan(text);
}

std::string complaint(const std::string& statement) {
  try {
    read(statement);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_plan);
    return failure.what();
  }
  return "no complaint";
}

class Fields : public testing::TestWithParam<Field> {};

TEST_P(Fields, HaveTheirDefault) {
  EXPECT_DOUBLE_EQ(GetParam().value(read(GetParam().statement)), GetParam().usual)
      << GetParam().key;
}

TEST_P(Fields, TakeBothEndsOfTheirRange) {
  const Field& field = GetParam();
  for (const char* text : {field.low, field.high}) {
    const Plan plan = read(std::string(field.statement) + " " + field.key + "=" + text);
    EXPECT_DOUBLE_EQ(field.value(plan), std::stod(text)) << field.key;
  }
}

TEST_P(Fields, RefuseWhatIsBeyond) {
  const Field& field = GetParam();
  for (const char* text : {field.below, field.above, "", "x", "1 "}) {
    const std::string setting = std::string(field.key) + "=" + text;
    const std::string said = complaint(std::string(field.statement) + " " + setting);
    if (std::string(text) == "1 ") {
      EXPECT_NE(said.find("key=value"), std::string::npos) << said;
      continue;
    }
    EXPECT_NE(said.find(setting + " is not a number from"), std::string::npos) << said;
  }
}

TEST_P(Fields, AreGivenOnce) {
  const Field& field = GetParam();
  const std::string setting = std::string(" ") + field.key + "=" + field.low;
  const std::string said = complaint(field.statement + setting + setting);
  EXPECT_NE(said.find(std::string(field.key) + " is given twice"), std::string::npos) << said;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    OfThePolicy, Fields,
    testing::Values(
        Field{"policy", "latency_half_width", 0.02, of_policy(&Policy::latency_half_width), "0.000001", "1", "0", "1.01"},
        Field{"policy", "bandwidth_half_width", 0.01, of_policy(&Policy::bandwidth_half_width), "0.000001", "1", "0", "2"},
        Field{"policy", "point_budget_ms", 1000, of_policy(&Policy::point_budget_ms), "1", "2147483647", "0", "2147483648"},
        Field{"policy", "point_deadline_ms", 30000, of_policy(&Policy::point_deadline_ms), "1", "2147483647", "0", "2147483648"},
        Field{"policy", "run_deadline_ms", 600000, of_policy(&Policy::run_deadline_ms), "1", "2147483647", "0", "-1"},
        Field{"policy", "in_flight_bytes", 4194304, of_policy(&Policy::in_flight_bytes), "1", "1073741824", "0", "1073741825"},
        Field{"policy", "block_us", 1500, of_policy(&Policy::block_us), "1", "10000000", "0", "10000001"},
        Field{"policy", "min_blocks", 10, of_policy(&Policy::min_blocks), "1", "1000000", "0", "1000001"},
        Field{"policy", "max_batches", 2000, of_policy(&Policy::max_batches), "1", "1000000", "0", "1000001"},
        Field{"policy", "warmup_min_us", 2000, of_policy(&Policy::warmup_min_us), "0", "60000000", "-1", "60000001"},
        Field{"policy", "warmup_min_operations", 1000, of_policy(&Policy::warmup_min_operations), "0", "100000000", "-1", "100000001"},
        Field{"policy", "yield", 0, of_policy(&Policy::yield), "0", "1", "-1", "2"}));

INSTANTIATE_TEST_SUITE_P(
    OfTheModel, Fields,
    testing::Values(
        Field{kModel, "overhead_ns", 0, of_model(&ModelWorld::overhead_ns), "0", "1000000000000", "-1", "1e13"},
        Field{kModel, "eager_limit_bytes", 0, of_model(&ModelWorld::eager_limit_bytes), "0", "1073741824", "-1", "1073741825"},
        Field{kModel, "rendezvous_ns", 0, of_model(&ModelWorld::rendezvous_ns), "0", "1000000000000", "-0.5", "nan"},
        Field{kModel, "noise", 0, of_model(&ModelWorld::noise), "0", "1", "-0.1", "1.1"},
        Field{kModel, "stall", 0, of_model(&ModelWorld::stall), "0", "1", "-0.1", "inf"},
        Field{kModel, "shared", 0, of_model(&ModelWorld::shared), "0", "1", "-1", "2"},
        Field{"model_fault rank=3", "tx", 1, of_fault(&ModelFault::tx), "0.000001", "1", "0", "1.5"},
        Field{"model_fault rank=3", "rx", 1, of_fault(&ModelFault::rx), "0.000001", "1", "0", "nan"},
        Field{"model_fault rank=3", "latency_ns", 0, of_fault(&ModelFault::latency_ns), "0", "1000000000000", "-1", "1e13"},
        Field{kCounter, "width", 64, of_counter(&ModelCounter::width), "8", "64", "7", "65"},
        Field{kCounter, "pegs", 0, of_counter(&ModelCounter::pegs), "0", "1", "-1", "2"},
        Field{kCounter, "refresh_ms", 0, of_counter(&ModelCounter::refresh_ms), "0", "3600000", "-1", "3600001"},
        Field{kCounter, "tx_byte", 0, of_counter(&ModelCounter::tx_byte), "0", "1000000000000", "-1", "1e13"},
        Field{kCounter, "rx_byte", 0, of_counter(&ModelCounter::rx_byte), "0", "0.25", "-1", "1e13"},
        Field{kCounter, "tx_message", 0, of_counter(&ModelCounter::tx_message), "0", "52", "-1", "nan"},
        Field{kCounter, "rx_message", 0, of_counter(&ModelCounter::rx_message), "0", "52", "-1", "inf"},
        Field{kCounter, "per_second", 0, of_counter(&ModelCounter::per_second), "0", "1000000000000", "-1", "1e13"},
        Field{kCounter, "from_ms", 0, of_counter(&ModelCounter::from_ms), "0", "3600000", "-1", "3600001"},
        Field{kCounter, "to_ms", 0, of_counter(&ModelCounter::to_ms), "0", "3600000", "-1", "3600001"}));

INSTANTIATE_TEST_SUITE_P(
    OfPointsAndFacts, Fields,
    testing::Values(
        Field{kPoint, "window", 64, of_point(&Point::window), "1", "1024", "0", "1025"},
        Field{kPoint, "repeat", 0, of_point(&Point::repeat), "0", "2147483647", "-1", "2147483648"},
        Field{kPoint, "iterations", 0, of_point(&Point::iterations), "0", "1000000000", "-1", "1000000001"},
        Field{kPoint, "least_operations", 0, of_point(&Point::least_operations), "0", "1000000000", "-1", "1000000001"},
        Field{"point id=1 pattern=threads message_bytes=8 pairs=0-1", "threads", 1, of_point(&Point::threads), "1", "256", "0", "257"},
        Field{"point id=1 pattern=partitioned message_bytes=4096 pairs=0-1", "partitions", 1, of_point(&Point::partitions), "1", "4096", "0", "4097"},
        Field{"point id=1 pattern=congestion message_bytes=8 pairs=0-1 load=2-3", "load_bytes", 65536, of_point(&Point::load_bytes), "1", "1073741824", "0", "1073741825"},
        Field{"point id=1 pattern=barrier message_bytes=0 members=0:3", "blocking", 1, of_point(&Point::blocking), "0", "1", "-1", "2"},
        Field{kFile, "limit_bytes", 65536, of_fact(&FactRequest::limit_bytes), "1", "1073741824", "0", "1073741825"},
        Field{kFile, "timeout_ms", 2000, of_fact(&FactRequest::timeout_ms), "1", "600000", "0", "600001"}));
// clang-format on

TEST(PlanFields, ABudgetOfAPointIsAbsentUnlessGiven) {
  EXPECT_EQ(read(kPoint).points.at(0).budget_ms, std::nullopt);
  EXPECT_EQ(read(std::string(kPoint) + " budget_ms=1").points.at(0).budget_ms, 1);
  EXPECT_NE(complaint(std::string(kPoint) + " budget_ms=0").find("budget_ms=0"), std::string::npos);
}

TEST(PlanFields, HowLateACounterIsMayBeUnknown) {
  EXPECT_EQ(read("witness idle_ms=200").witness.settle_ms, std::nullopt);
  EXPECT_EQ(read("witness settle_ms=0").witness.settle_ms, 0) << "known to be at once";
  EXPECT_EQ(read("witness settle_ms=60000").witness.settle_ms, 60'000);
}

TEST(PlanFields, LateDriversAreAList) {
  const auto late = read("witness idle_ms=200 late=bnxt*:2500,a%2Cb:0,c:d:60000").witness.late;
  ASSERT_EQ(late.size(), 3U);
  EXPECT_EQ(late[0].driver, "bnxt*");
  EXPECT_EQ(late[0].ms, 2500);
  EXPECT_EQ(late[1].driver, "a,b");
  EXPECT_EQ(late[2].driver, "c:d");
  EXPECT_TRUE(read("witness idle_ms=200").witness.late.empty());
  for (const char* bad : {"tg3", "tg3:", "tg3:60001", "tg3:-1", "tg3:1x", "tg3:1,"})
    EXPECT_NE(complaint(std::string("witness late=") + bad).find("is not DRIVER:MS"),
              std::string::npos)
        << bad;
}

struct Choice {
  const char* statement;
  const char* key;
  std::vector<std::string> known;
};
class Choices : public testing::TestWithParam<Choice> {};
TEST_P(Choices, AreThoseOfTheInterfaceAndNoOthers) {
  const Choice& choice = GetParam();
  std::string list;
  for (const std::string& name : choice.known) {
    EXPECT_EQ(complaint(std::string(choice.statement) + " " + choice.key + "=" + name),
              "no complaint");
    list += (list.empty() ? "" : ", ") + name;
  }
  const std::string said = complaint(std::string(choice.statement) + " " + choice.key + "=other");
  EXPECT_NE(said.find(std::string(choice.key) + "=other is unknown; known: " + list),
            std::string::npos)
      << said;
}
INSTANTIATE_TEST_SUITE_P(OfThePlan, Choices,
                         testing::Values(Choice{"policy", "pin", {"none", "nic"}},
                                         Choice{"policy", "teardown", {"none", "point"}},
                                         Choice{kPoint, "detail", {"full", "brief"}},
                                         Choice{kPoint, "form", {"latency", "stream"}},
                                         Choice{kPoint, "window_kind", {"allocate", "create"}},
                                         Choice{
                                             "point id=1 pattern=ring message_bytes=8 members=0:3",
                                             "order",
                                             {"natural", "random"}}));

TEST(WholePlans, LinesThatSayNothingAreSkipped) {
  const Plan plan = parse_plan("wireproof-plan 1\n\n\r\ntransport kind=null\n\n");
  EXPECT_EQ(plan.transport, TransportKind::null);
  EXPECT_TRUE(plan.points.empty());
}

TEST(WholePlans, TheFirstLineIsTheVersion) {
  for (const char* text : {"", "\n", "wireproof-plan 2\n", " wireproof-plan 1\n",
                           "wireproof-plan 1 \n", "transport kind=null\n"}) {
    try {
      parse_plan(text);
      FAIL() << text;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), "bad-plan");
    }
  }
}

TEST(WholePlans, PointsStayInTheirOrderAndKnowTheirLine) {
  const Plan plan = parse_plan(
      "wireproof-plan 1\ntransport kind=mpi\n"
      "point id=9 pattern=pingpong message_bytes=8 pairs=0-1\n\n"
      "point id=2 pattern=stream message_bytes=8 pairs=2-5\n");
  ASSERT_EQ(plan.points.size(), 2U);
  EXPECT_EQ(plan.points[0].id, 9);
  EXPECT_EQ(plan.points[0].line, 3);
  EXPECT_EQ(plan.points[1].line, 5);
  EXPECT_EQ(plan.points[1].highest_rank, 5);
}

TEST(WholePlans, APointsNumberComesOnce) {
  const std::string said = complaint(std::string(kPoint) + "\n" + kPoint);
  EXPECT_NE(said.find("point id 1 comes twice"), std::string::npos) << said;
}

TEST(WholePlans, ARankThatPlaysNoPartKeepsNoPairsAndNoMembers) {
  const std::string text =
      "wireproof-plan 1\ntransport kind=mpi\n"
      "point id=1 pattern=pingpong message_bytes=8 pairs=0-1,2-3\n"
      "point id=2 pattern=ring message_bytes=8 members=0:3\n";
  const Plan three = parse_plan(text, [](int rank) { return rank == 3; });
  EXPECT_EQ(three.points[0].pairs, (std::vector<std::pair<int, int>>{{2, 3}}));
  EXPECT_EQ(three.points[1].members, (std::vector<int>{0, 1, 2, 3}));
  const Plan nine = parse_plan(text, [](int rank) { return rank == 9; });
  EXPECT_TRUE(nine.points[0].pairs.empty());
  EXPECT_TRUE(nine.points[1].members.empty());
  EXPECT_EQ(nine.points[1].highest_rank, 3) << "known all the same";
}

}  // namespace
}  // namespace wireproof
