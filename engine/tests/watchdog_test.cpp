// Deadlines and signals, each in a separate process whose last lines are read.
#include "record/watchdog.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "json_value.hpp"
#include "record/frame_sink.hpp"

namespace wireproof {
namespace {

struct End {
  int status = -1;  // exit status; 1000 + the signal that ended it
  std::string out;
  std::string err;
};

std::string read_to_end(int descriptor) {
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = read(descriptor, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  close(descriptor);
  return text;
}

End in_child(const std::function<void()>& work) {
  int out[2];
  int err[2];
  if (pipe(out) != 0 || pipe(err) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int end : {out[0], out[1], err[0], err[1]}) close(end);
    work();
    _exit(0);
  }
  close(out[1]);
  close(err[1]);
  End end;
  end.out = read_to_end(out[0]);
  end.err = read_to_end(err[0]);
  int status = 0;
  waitpid(child, &status, 0);
  end.status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

void hang() {
  for (;;) pause();
}

watchdog::Identity alone(int rank = 0, int ranks = 1) { return {rank, ranks, "node7"}; }

TEST(Watchdog, APointThatLastsTooLongEndsWithAFrame) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(), 60'000);
    watchdog::begin_point(12, 30);
    hang();
  });
  EXPECT_EQ(end.status, 4);
  const test::Json frame = test::parse_json(end.out.substr(0, end.out.find('\n')));
  EXPECT_EQ(frame["frame"].text, "error");
  EXPECT_EQ(frame["code"].text, "deadline");
  EXPECT_EQ(frame["id"].number, 12);
  EXPECT_EQ(frame["rank"].number, 0);
  EXPECT_EQ(frame["message"].text, "the point did not finish within 30 ms");
  EXPECT_TRUE(end.out.ends_with("}\n"));
  EXPECT_NE(end.err.find("rank 0 on node7 at point 12 is busy itself"), std::string::npos)
      << end.err;
}

TEST(Watchdog, TheRunsDeadlineHoldsBetweenPoints) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(), 40);
    hang();
  });
  EXPECT_EQ(end.status, 4);
  const test::Json frame = test::parse_json(end.out.substr(0, end.out.find('\n')));
  EXPECT_EQ(frame["message"].text, "the run did not finish within 40 ms");
  EXPECT_FALSE(frame.has("id"));
  EXPECT_NE(end.err.find("between points"), std::string::npos) << end.err;
}

TEST(Watchdog, TheRunsDeadlineIsTheLastOfAPointToo) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(), 40);
    watchdog::begin_point(3, 60'000);
    hang();
  });
  const test::Json frame = test::parse_json(end.out.substr(0, end.out.find('\n')));
  EXPECT_EQ(frame["message"].text, "the run did not finish within 40 ms");
  EXPECT_EQ(frame["id"].number, 3);
}

TEST(Watchdog, APointThatIsOverHasNoDeadline) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(), 60'000);
    watchdog::begin_point(1, 20);
    watchdog::end_point();
    poll(nullptr, 0, 60);
    watchdog::end_run();
  });
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out + end.err, "");
}

TEST(Watchdog, ARunThatIsOverHasNoDeadline) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(), 20);
    watchdog::end_run();
    poll(nullptr, 0, 60);
  });
  EXPECT_EQ(end.status, 0);
}

TEST(Watchdog, EveryPointGetsItsWholeTime) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(), 60'000);
    for (int id = 0; id < 4; ++id) {
      watchdog::begin_point(id, 2'000);
      poll(nullptr, 0, 10);
    }
    watchdog::begin_point(9, 30);
    hang();
  });
  EXPECT_EQ(end.status, 4);
  EXPECT_EQ(test::parse_json(end.out.substr(0, end.out.find('\n')))["id"].number, 9);
}

class Interrupts : public testing::TestWithParam<int> {};
TEST_P(Interrupts, EndWithAFrameThatSaysSo) {
  const int number = GetParam();
  const End end = in_child([number] {
    watchdog::install();
    watchdog::begin_run(alone(), 60'000);
    watchdog::begin_point(5, 60'000);
    raise(number);
    hang();
  });
  EXPECT_EQ(end.status, 4);
  const test::Json frame = test::parse_json(end.out.substr(0, end.out.find('\n')));
  EXPECT_EQ(frame["code"].text, "interrupted");
  EXPECT_EQ(frame["id"].number, 5);
  EXPECT_EQ(end.err, "");
}
INSTANTIATE_TEST_SUITE_P(Signals, Interrupts, testing::Values(SIGTERM, SIGINT));

TEST(Watchdog, OtherRanksWriteNoFrame) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(3, 1), 60'000);
    raise(SIGTERM);
  });
  EXPECT_EQ(end.status, 4);
  EXPECT_EQ(end.out, "");
}

TEST(Watchdog, BeforeARunNobodySpeaks) {
  const End end = in_child([] {
    watchdog::install();
    raise(SIGTERM);
  });
  EXPECT_EQ(end.status, 4);
  EXPECT_EQ(end.out + end.err, "");
}

TEST(Watchdog, TheLastWordNamesWhomItWaitsFor) {
  const auto last_word = [](const std::function<void()>& wait) {
    return in_child([&] {
             watchdog::install();
             watchdog::begin_run(alone(2, 1), 60'000);
             watchdog::begin_point(8, 30);
             wait();
             hang();
           })
        .err;
  };
  EXPECT_EQ(last_word([] { watchdog::wait_for(7); }),
            "wireproof-engine: deadline: rank 2 on node7 at point 8 waits for rank 7\n");
  EXPECT_EQ(last_word([] { watchdog::wait_for_others(); }),
            "wireproof-engine: deadline: rank 2 on node7 at point 8 waits for the others\n");
  EXPECT_EQ(last_word([] {
              watchdog::wait_for(7);
              watchdog::busy();
            }),
            "wireproof-engine: deadline: rank 2 on node7 at point 8 is busy itself\n");
}

TEST(Watchdog, ALongPointGetsSignsOfLife) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run(alone(1, 2), 60'000);
    watchdog::begin_point(8, 2'000);
    watchdog::wait_for(0);
    hang();
  });
  EXPECT_EQ(end.status, 4);
  EXPECT_EQ(end.err,
            "wireproof-engine: pending: rank 1 on node7 at point 8 waits for rank 0\n"
            "wireproof-engine: deadline: rank 1 on node7 at point 8 waits for rank 0\n");
}

TEST(Watchdog, AHostileHostNameStaysOneWord) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run({0, 1, "a b\n\x1b[31m" + std::string(500, 'x')}, 30);
    hang();
  });
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1);
  EXPECT_EQ(end.err.find('\x1b'), std::string::npos);
  EXPECT_NE(end.err.find("on a?b??[31mxxx"), std::string::npos) << end.err;
  EXPECT_LT(end.err.size(), 256U);
}

TEST(Watchdog, AHostWithoutANameIsAQuestion) {
  const End end = in_child([] {
    watchdog::install();
    watchdog::begin_run({0, 1, ""}, 60'000);
    const std::string position = watchdog::position();
    write_all(STDOUT_FILENO, position);
  });
  EXPECT_EQ(end.out, "rank 0 on ? between points");
}

TEST(Watchdog, PositionFollowsThePoint) {
  const End end = in_child([] {
    std::string said = "[" + watchdog::position() + "]";
    watchdog::begin_run(alone(4, 9), 60'000);
    said += "[" + watchdog::position() + "]";
    watchdog::begin_point(0, 60'000);
    said += "[" + watchdog::position() + "]";
    watchdog::end_point();
    said += "[" + watchdog::position() + "]";
    write_all(STDOUT_FILENO, said);
  });
  EXPECT_EQ(end.out,
            "[][rank 4 on node7 between points][rank 4 on node7 at point 0]"
            "[rank 4 on node7 between points]");
}

TEST(Watchdog, AReaderThatLeftIsNoSignal) {
  const End end = in_child([] {
    watchdog::install();
    int ends[2];
    if (pipe(ends) != 0) _exit(9);
    close(ends[0]);
    if (write_all(ends[1], "x")) _exit(8);
  });
  EXPECT_EQ(end.status, 0);
}

TEST(Watchdog, DiesWithItsParent) {
  int alive[2];
  ASSERT_EQ(pipe(alive), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    int ready[2];
    if (pipe(ready) != 0) _exit(9);
    if (fork() == 0) {
      watchdog::install();
      close(alive[0]);
      write_all(ready[1], "x");
      hang();
    }
    char byte = 0;
    static_cast<void>(!read(ready[0], &byte, 1));
    _exit(0);
  }
  close(alive[1]);
  waitpid(parent, nullptr, 0);
  pollfd end{alive[0], POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 20'000), 1) << "the grandchild still holds the pipe";
  close(alive[0]);
}

}  // namespace
}  // namespace wireproof
