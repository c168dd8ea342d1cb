// The journal's text: complete, torn, damaged.
#include <gtest/gtest.h>

#include "node/tune/journal.hpp"
#include "node/tune/journal_line.hpp"

namespace wireproof::tune {
namespace {

Story story() {
  Story story;
  story.request.id = "one";
  story.request.by = "a person, on n1";
  story.since = "2026-01-01T00:00:00Z";
  story.boot = "boot";
  story.deadline_ms = 5000;
  story.number = 3;
  Change file;
  file.id = "a/b";
  file.path = "/proc/sys/vm/a";
  file.value = "1 2";
  file.form = Form::choice;
  file.coupled = {"/proc/sys/vm/b,c", "/proc/sys/vm/d"};
  Change command;
  command.id = "ring";
  command.kind = Change::Kind::command;
  command.value = "9";
  command.section = "Current hardware settings";
  command.key = "RX";
  command.read = {"ethtool", "-g", "eth0"};
  command.write = {"ethtool", "-G", "eth0", "rx", "{value}"};
  story.request.changes = {file, command};
  story.request.keeps = {{"/etc/sysctl.d/wireproof.conf", "a = 1\nb = 2\n"}};
  story.old = {{"/proc/sys/vm/a", "0\t1\n"}, {"command ring", "512"}, {"/proc/sys/vm/d", ""}};
  story.old_keeps["/etc/sysctl.d/wireproof.conf"] = {true, true, "old = %20\n", 0600, 1, 2};
  return story;
}

TEST(Journal, IsReadAsItWasWritten) {
  const Story read = parse_journal(head_of(story()));
  EXPECT_TRUE(read.whole);
  EXPECT_EQ(head_of(read), head_of(story()));
  EXPECT_EQ(read.request.changes[0].coupled, story().request.changes[0].coupled);
  EXPECT_EQ(read.request.changes[1].write, story().request.changes[1].write);
  EXPECT_EQ(read.old, story().old);
  const OldKeep& old = read.old_keeps.at("/etc/sysctl.d/wireproof.conf");
  EXPECT_EQ(old.text, "old = %20\n");
  EXPECT_EQ(old.mode, 0600U);
  EXPECT_EQ(read.phase, Phase::applying);
}

TEST(Journal, FollowsAChange) {
  const Story first = story();
  const Change& change = first.request.changes[0];
  std::string text = head_of(first) + line::timer({7, 8}) + line::intent(change);
  Story read = parse_journal(text);
  EXPECT_EQ(read.in_hand,
            (std::set<std::string>{"/proc/sys/vm/a", "/proc/sys/vm/b,c", "/proc/sys/vm/d"}));
  EXPECT_EQ(read.begun, std::set<std::string>{"a/b"});
  EXPECT_EQ(read.timer->start, 8U);
  text += line::seen("/proc/sys/vm/a", "[1] 2\n") + line::done(change, "applied") +
          line::phase(Phase::armed) + line::undo("/proc/sys/vm/a");
  read = parse_journal(text);
  EXPECT_EQ(read.in_hand, std::set<std::string>{"/proc/sys/vm/a"});
  EXPECT_EQ(read.ours.at("/proc/sys/vm/a"), std::set<std::string>{"[1] 2\n"});
  EXPECT_EQ(read.phase, Phase::armed);
  read = parse_journal(text + line::undone("/proc/sys/vm/a") + line::phase(Phase::reverted));
  EXPECT_TRUE(read.in_hand.empty());
  EXPECT_EQ(read.phase, Phase::reverted);
}

TEST(Journal, ATornLineIsIgnoredWhereverItIsCut) {
  const std::string head = head_of(story());
  const std::string last = line::phase(Phase::armed);
  for (std::size_t kept = 0; kept + 1 < last.size(); ++kept) {
    const std::string torn = head + last.substr(0, kept) + "\n" + line::phase(Phase::partly);
    EXPECT_EQ(parse_journal(head + last.substr(0, kept)).phase, Phase::applying) << kept;
    EXPECT_EQ(parse_journal(torn).phase, Phase::partly) << "the next line counts";
  }
}

TEST(Journal, NoDamageIsTakenForAStatement) {
  const std::string head = head_of(story());
  for (std::size_t at = 0; at < head.size(); ++at) {
    std::string damaged = head;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const Story read = parse_journal(damaged);
    for (const auto& [target, old] : read.old) EXPECT_EQ(story().old.at(target), old) << at;
    EXPECT_LE(read.request.changes.size(), 2U);
    EXPECT_TRUE(parse_journal(head.substr(0, at)).phase == Phase::applying);
  }
  EXPECT_FALSE(parse_journal(std::string(4096, '\0')).whole);
}

TEST(Journal, ALineOfAnotherVersionCostsNoOther) {
  const Story read = parse_journal(head_of(story()) + sealed("later key=value") +
                                   sealed("change id=x kind=file path=/etc/passwd value=1") +
                                   sealed("timer pid=-5 start=x") + sealed("phase name=armed"));
  EXPECT_EQ(read.phase, Phase::armed);
  EXPECT_EQ(read.request.changes.size(), 2U) << "no target beyond what is allowed";
  EXPECT_FALSE(read.timer);
}

}  // namespace
}  // namespace wireproof::tune
