// Requests: whatever is changed in one, it is refused in a sentence or requests nothing that is
// forbidden.
#include <gtest/gtest.h>

#include "base/failure.hpp"
#include "node/tune/allowed.hpp"
#include "node/tune/request.hpp"

namespace wireproof::tune {
namespace {

constexpr std::string_view kRequest =
    "set id=one by=a%20person timeout_s=60 patience_ms=100\n"
    "# a comment\n"
    "change id=a kind=file path=/proc/sys/vm/a value=1%202 form=choice coupled=/sys/b,/sys/c\n"
    "change id=ring/eth0 kind=command read=ethtool,-g,eth0 section=Current key=RX "
    "write=ethtool,-G,eth0,rx,{value} value=9\n"
    "keep path=/etc/sysctl.d/90-wireproof.conf text=a%20=%201%0A\n";

void expect_allowed(const Request& request) {
  EXPECT_TRUE(is_name(request.id));
  for (const Change& change : request.changes) {
    const bool file = change.kind == Change::Kind::file;
    EXPECT_EQ(file ? wrong_target(change.path) : wrong_write(change.write), "");
    EXPECT_EQ(file ? "" : wrong_read(change.read), "");
    for (const std::string& path : change.coupled) EXPECT_EQ(wrong_target(path), "");
  }
  for (const Keep& keep : request.keeps) EXPECT_EQ(wrong_drop_in(keep.path), "");
}

TEST(TuneRequest, IsRead) {
  const Request request = parse_request(kRequest);
  EXPECT_EQ(request.by, "a person");
  EXPECT_EQ(request.timeout_s, 60);
  ASSERT_EQ(request.changes.size(), 2U);
  EXPECT_EQ(request.changes[0].value, "1 2");
  EXPECT_EQ(request.changes[0].coupled, (std::vector<std::string>{"/sys/b", "/sys/c"}));
  EXPECT_EQ(request.changes[1].write.back(), "{value}");
  EXPECT_EQ(request.keeps.at(0).text, "a = 1\n");
}

TEST(TuneRequest, IsRefusedOrHarmlessWhateverIsChangedInIt) {
  int refused = 0;
  for (std::size_t at = 0; at < kRequest.size(); ++at) {
    for (const char other : {'\0', '/', '.', '%', ' ', '\n', '=', ',', '-', '\x1b', 'e', '\xff'}) {
      std::string text(kRequest);
      text[at] = other;
      try {
        expect_allowed(parse_request(text));
      } catch (const Failure& failure) {
        ++refused;
        EXPECT_EQ(failure.status(), ExitStatus::bad_plan) << failure.what();
      }
    }
    try {
      expect_allowed(parse_request(kRequest.substr(0, at)));
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::bad_plan) << failure.what();
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(TuneRequest, ItsStatementsAreReadBack) {
  const Request request = parse_request(kRequest);
  std::string text = set_statement(request) + "\n";
  for (const Change& change : request.changes) text += change_statement(change) + "\n";
  for (const Keep& keep : request.keeps) text += keep_statement(keep) + "\n";
  const Request again = parse_request(text);
  EXPECT_EQ(set_statement(again), set_statement(request));
  for (std::size_t i = 0; i < request.changes.size(); ++i) {
    EXPECT_EQ(change_statement(again.changes[i]), change_statement(request.changes[i]));
  }
  EXPECT_EQ(keep_statement(again.keeps[0]), keep_statement(request.keeps[0]));
}

}  // namespace
}  // namespace wireproof::tune
