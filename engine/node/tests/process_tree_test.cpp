// Everything that a job started is found and ended: children, grandchildren, and processes that
// left the tree but carry the job's mark.
#include "node/process_tree.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <set>
#include <string>

#include "node/system.hpp"

namespace wireproof {
namespace {

const char* const kNoMark = "WIREPROOF_TEST_MARK=nobody-has-this";

/// Each test is a separate subreaper, so it ends only its own processes.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return shell_status(status);
}

pid_t sleeper(bool stubborn = false) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    if (stubborn) signal(SIGTERM, SIG_IGN);
    static_cast<void>(!write(ready[1], "x", 1));
    for (;;) pause();
  }
  char byte = 0;
  static_cast<void>(!read(ready[0], &byte, 1));
  close(ready[0]);
  close(ready[1]);
  return child;
}

bool lives(pid_t pid) { return kill(pid, 0) == 0; }

TEST(ProcessTree, WithoutProcessesItIsOverAtOnce) {
  EXPECT_EQ(in_child([] { return ProcessTree(getpid(), kNoMark).terminate(0) ? 0 : 1; }), 0);
}

TEST(ProcessTree, ChildrenEndByTheFirstSignal) {
  EXPECT_EQ(in_child([] {
              const pid_t one = sleeper();
              const pid_t two = sleeper();
              ProcessTree tree(getpid(), kNoMark);
              if (!tree.terminate(60'000)) return 1;
              if (lives(one) || lives(two)) return 2;
              if (shell_status(tree.status_of(one)) != 128 + SIGTERM) return 3;
              return shell_status(tree.status_of(two)) == 128 + SIGTERM ? 0 : 4;
            }),
            0);
}

TEST(ProcessTree, WhatDoesNotGoIsKilled) {
  EXPECT_EQ(in_child([] {
              const pid_t one = sleeper(true);
              ProcessTree tree(getpid(), kNoMark);
              if (!tree.terminate(50)) return 1;
              return shell_status(tree.status_of(one)) == 128 + SIGKILL ? 0 : 2;
            }),
            0);
}

TEST(ProcessTree, AStoppedProcessIsWokenToEnd) {
  EXPECT_EQ(in_child([] {
              const pid_t one = sleeper();
              kill(one, SIGSTOP);
              ProcessTree tree(getpid(), kNoMark);
              if (!tree.terminate(60'000)) return 1;
              return shell_status(tree.status_of(one)) == 128 + SIGTERM ? 0 : 2;
            }),
            0);
}

TEST(ProcessTree, GrandchildrenOfADeadChildAreFound) {
  EXPECT_EQ(in_child([] {
              int told[2];
              if (pipe(told) != 0) return 9;
              const pid_t middle = fork();
              if (middle == 0) {
                const pid_t grandchild = sleeper();
                static_cast<void>(!write(told[1], &grandchild, sizeof grandchild));
                _exit(0);
              }
              pid_t grandchild = 0;
              static_cast<void>(!read(told[0], &grandchild, sizeof grandchild));
              ProcessTree tree(getpid(), kNoMark);
              if (!tree.terminate(60'000)) return 1;
              return lives(grandchild) ? 2 : 0;
            }),
            0);
}

TEST(ProcessTree, WhoLeftTheFamilyIsFoundByTheMark) {
  const std::string mark = "WIREPROOF_TEST_MARK=" + random_mark();
  // The root of another tree is given, so the test's own process is not the parent.
  const pid_t other = fork();
  if (other == 0) {
    const std::size_t equals = mark.find('=');
    setenv(mark.substr(0, equals).c_str(), mark.substr(equals + 1).c_str(), 1);
    execlp("sleep", "sleep", "600", nullptr);
    _exit(1);
  }
  while (read_file("/proc/" + std::to_string(other) + "/comm") != "sleep\n") {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  const pid_t stranger = sleeper();
  const pid_t nobody = fork();  // a root without children
  if (nobody == 0) {
    for (;;) pause();
  }
  ProcessTree tree(nobody, mark);
  EXPECT_TRUE(tree.terminate(60'000));
  EXPECT_EQ(shell_status(tree.status_of(other)), 128 + SIGTERM);
  EXPECT_TRUE(lives(stranger)) << "nobody else is touched";
  EXPECT_TRUE(lives(nobody)) << "nor the root itself";
  for (const pid_t pid : {stranger, nobody}) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

TEST(ProcessTree, AStatusThatWasNotReapedIsUnknown) {
  ProcessTree tree(getpid(), kNoMark);
  EXPECT_EQ(tree.status_of(getpid()), -1);
}

TEST(RandomMark, HasThirtyTwoDigitsAndComesOnce) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string mark = random_mark();
    EXPECT_EQ(mark.size(), 32U);
    EXPECT_EQ(mark.find_first_not_of("0123456789abcdef"), std::string::npos) << mark;
    EXPECT_TRUE(seen.insert(mark).second);
  }
}

}  // namespace
}  // namespace wireproof
