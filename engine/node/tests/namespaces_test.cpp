// A node's specification, and processes in separate namespaces (as root of a user namespace if the
// tests do not run as root).
#include "node/namespaces.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace wireproof {
namespace {

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

struct Spec {
  const char* text;
  const char* name;
  std::set<std::string> own;
};
class NodeSpecs : public testing::TestWithParam<Spec> {};
TEST_P(NodeSpecs, AreReadAsWritten) {
  const NodeSpec node = parse_node(GetParam().text);
  EXPECT_EQ(node.name, GetParam().name);
  EXPECT_EQ(node.own, GetParam().own);
  for (const std::string kind : {"net", "uts", "ipc", "mount", "pid", "shm"}) {
    EXPECT_EQ(node.owns(kind), GetParam().own.contains(kind)) << kind;
  }
}
INSTANTIATE_TEST_SUITE_P(Texts, NodeSpecs,
                         testing::Values(Spec{"n0=net,uts,ipc,mount,pid,shm",
                                              "n0",
                                              {"net", "uts", "ipc", "mount", "pid", "shm"}},
                                         Spec{"liar=net", "liar", {"net"}},
                                         Spec{"bare=", "bare", {}},
                                         Spec{"a.b-c=shm,net", "a.b-c", {"net", "shm"}},
                                         Spec{"twice=net,net", "twice", {"net"}},
                                         Spec{"tail=uts,", "tail", {"uts"}}));

TEST(NodeSpec, WhatCannotBeIsNamed) {
  EXPECT_NE(failure_of([] { parse_node("n0"); }).find("not 'n0'"), std::string::npos);
  EXPECT_NE(failure_of([] { parse_node("=net"); }).find("not '=net'"), std::string::npos);
  EXPECT_NE(failure_of([] { parse_node(""); }).find("NAME="), std::string::npos);
  EXPECT_EQ(failure_of([] { parse_node("n0=net,user"); }), "node n0: there is no namespace 'user'");
  EXPECT_EQ(failure_of([] { parse_node("n0=,net"); }), "node n0: there is no namespace ''");
  EXPECT_EQ(failure_of([] { parse_node("n0=NET"); }), "node n0: there is no namespace 'NET'");
}

ino_t space(const std::string& kind) {
  struct stat found = {};
  return stat(("/proc/self/ns/" + kind).c_str(), &found) == 0 ? found.st_ino : 0;
}

constexpr int kCannot = 77;

/// Runs in a child that may create namespaces; 77 if this machine forbids it.
int as_root_of_its_own(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      if (geteuid() != 0) become_namespace_root();
      if (unshare(CLONE_NEWUTS) != 0) _exit(kCannot);
      status = work();
    } catch (const Failure& failure) {
      const std::string said = failure.what();
      if (said.find("not permitted") != std::string::npos) _exit(kCannot);
      fprintf(stderr, "%s\n", failure.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return shell_status(status);
}

/// Runs `work` in a clone of the node and returns its status.
int in_node(const NodeSpec& node, const std::function<int()>& work) {
  const pid_t child = clone_into(node);
  if (child == 0) {
    int status = 98;
    try {
      status = work();
    } catch (const Failure& failure) {
      fprintf(stderr, "%s\n", failure.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return shell_status(status);
}

#define EXPECT_DONE(status)                                                     \
  do {                                                                          \
    const int found = (status);                                                 \
    if (found == kCannot) GTEST_SKIP() << "needs the right to make namespaces"; \
    EXPECT_EQ(found, 0);                                                        \
  } while (false)

TEST(CloneInto, OwnsWhatTheSpecificationSaysAndSharesTheRest) {
  EXPECT_DONE(as_root_of_its_own([] {
    const ino_t net = space("net");
    const ino_t uts = space("uts");
    const ino_t ipc = space("ipc");
    return in_node(parse_node("n0=net,uts"), [&] {
      if (space("net") == net) return 1;
      if (space("uts") == uts) return 2;
      return space("ipc") == ipc ? 0 : 3;
    });
  }));
}

TEST(CloneInto, TheFirstProcessOfAPidNamespaceIsNumberOne) {
  EXPECT_DONE(as_root_of_its_own([] {
    const int own = in_node(parse_node("n0=pid"), [] { return getpid() == 1 ? 0 : 1; });
    const int shared = in_node(parse_node("n0="), [] { return getpid() == 1 ? 1 : 0; });
    return own + 2 * shared;
  }));
}

TEST(Furnish, ANodeHasItsNameAndALoopback) {
  EXPECT_DONE(as_root_of_its_own([] {
    return in_node(parse_node("node-7=net,uts"), [] {
      furnish(parse_node("node-7=net,uts"), "");
      char name[64] = {};
      if (gethostname(name, sizeof name) != 0 || std::string(name) != "node-7") return 1;
      if (if_nametoindex("lo") == 0) return 2;
      return 0;
    });
  }));
}

TEST(Furnish, ANodeThatSharesItsNameKeepsTheHosts) {
  EXPECT_DONE(as_root_of_its_own([] {
    char before[64] = {};
    gethostname(before, sizeof before);
    return in_node(parse_node("other=net"), [&] {
      furnish(parse_node("other=net"), "");
      char after[64] = {};
      gethostname(after, sizeof after);
      return std::string(before) == after ? 0 : 1;
    });
  }));
}

TEST(Door, LeadsIntoTheNamespacesOfAProcess) {
  EXPECT_DONE(as_root_of_its_own([] {
    int ready[2];
    int over[2];
    if (pipe(ready) != 0 || pipe(over) != 0) return 9;
    const pid_t held = clone_into(parse_node("n0=net,uts"));
    if (held == 0) {
      close(over[1]);
      static_cast<void>(!write(ready[1], "x", 1));
      char byte = 0;
      static_cast<void>(!read(over[0], &byte, 1));
      _exit(0);
    }
    char byte = 0;
    static_cast<void>(!read(ready[0], &byte, 1));
    const auto of_held = [&](const char* kind) {
      struct stat found = {};
      stat(("/proc/" + std::to_string(held) + "/ns/" + kind).c_str(), &found);
      return found.st_ino;
    };
    const ino_t net = of_held("net");
    const ino_t uts = of_held("uts");
    const ino_t ipc = space("ipc");
    const Door door(held);
    door.open_pid_namespace();
    door.enter();
    const bool inside = space("net") == net && space("uts") == uts && space("ipc") == ipc;
    close(over[1]);
    waitpid(held, nullptr, 0);
    return inside ? 0 : 1;
  }));
}

TEST(Door, OfAProcessThatHasGoneIsAFailure) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_NE(failure_of([&] { const Door door(child); }).find("No such file"), std::string::npos);
}

TEST(Door, OfOurselvesLeadsNowhere) {
  const Door door(getpid());
  EXPECT_EQ(failure_of([&] {
              door.open_pid_namespace();
              door.enter();
            }),
            "");
}

}  // namespace
}  // namespace wireproof
