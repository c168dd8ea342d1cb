// Descriptors, files, signals, statuses and numbers of wireproof-node.
#include "node/system.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

namespace wireproof {
namespace {

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return shell_status(status);
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "wireproof-node-XXXXXX").string();
    close(mkstemp(name.data()));
    path_ = name;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Fd, ClosesWhatItOwns) {
  int number = -1;
  {
    const Fd one(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = one.get();
    EXPECT_TRUE(one.is_open());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, IsMovedNotShared) {
  Fd one(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = one.get();
  Fd other(std::move(one));
  EXPECT_EQ(other.get(), number);
  EXPECT_FALSE(one.is_open());
  Fd third(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int closed = third.get();
  third = std::move(other);
  EXPECT_EQ(third.get(), number);
  EXPECT_FALSE(is_open(closed)) << "what it held before is closed";
  EXPECT_TRUE(is_open(number));
}

TEST(Fd, MovedToItselfStays) {
  Fd one(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = one.get();
  Fd& same = one;
  one = std::move(same);
  EXPECT_EQ(one.get(), number);
  EXPECT_TRUE(is_open(number));
}

TEST(Fd, ReleasedIsNotClosed) {
  int number = -1;
  {
    Fd one(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = one.release();
    EXPECT_FALSE(one.is_open());
  }
  EXPECT_TRUE(is_open(number));
  close(number);
}

TEST(Fail, NamesTheCause) {
  errno = ENOSPC;
  EXPECT_EQ(failure_of([] { fail_errno("write x"); }), "write x: No space left on device");
}

TEST(Files, AreWrittenAndReadWhole) {
  const TemporaryFile file;
  const std::string text = std::string(10'000, 'a') + '\0' + "end";
  write_file(file.path(), text);
  EXPECT_EQ(read_file(file.path()), text);
}

TEST(Files, AMissingOneIsEmptyToReadAndAFailureToWrite) {
  EXPECT_EQ(read_file("/nowhere/at/all"), "");
  const std::string said = failure_of([] { write_file("/nowhere/at/all", "x"); });
  EXPECT_EQ(said, "open /nowhere/at/all: No such file or directory");
}

TEST(Clock, GoesOn) {
  const std::int64_t before = monotonic_ms();
  const timespec pause{0, 3'000'000};
  nanosleep(&pause, nullptr);
  EXPECT_GE(monotonic_ms(), before + 2);
}

TEST(Signals, AreReportedOneByOne) {
  EXPECT_EQ(in_child([] {
              const Fd signals = signal_descriptor({SIGUSR1, SIGUSR2});
              if (next_signal(signals).number != 0) return 1;  // nothing waits yet
              raise(SIGUSR2);
              const Caught caught = next_signal(signals);
              if (caught.number != SIGUSR2 || caught.from_terminal) return 2;
              return next_signal(signals).number == 0 ? 0 : 3;
            }),
            0);
}

TEST(Signals, BlockedOnesDoNotEndTheProcess) {
  EXPECT_EQ(in_child([] {
              const Fd signals = signal_descriptor({SIGTERM});
              raise(SIGTERM);
              return next_signal(signals).number == SIGTERM ? 0 : 1;
            }),
            0);
}

TEST(ProcessDescriptor, IsReadableWhenTheProcessHasEnded) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[1]);
    char byte = 0;
    static_cast<void>(!read(pipe_ends[0], &byte, 1));
    _exit(0);
  }
  close(pipe_ends[0]);
  const Fd process = process_descriptor(child);
  if (process.is_open()) {
    pollfd ready{process.get(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 0), 0);
    close(pipe_ends[1]);
    EXPECT_EQ(poll(&ready, 1, 10'000), 1);
  } else {
    close(pipe_ends[1]);
  }
  waitpid(child, nullptr, 0);
}

TEST(ShellStatus, IsTheExitCodeOr128AndTheSignal) {
  EXPECT_EQ(in_child([] { return 0; }), 0);
  EXPECT_EQ(in_child([] { return 255; }), 255);
  EXPECT_EQ(in_child([] {
              raise(SIGKILL);
              return 0;
            }),
            137);
  EXPECT_EQ(in_child([] {
              signal(SIGTERM, SIG_DFL);
              raise(SIGTERM);
              return 0;
            }),
            143);
}

TEST(Become, IsTheProgramWithItsEnvironment) {
  const std::vector<std::string> environment = {"GIVEN=7", "PATH=/usr/bin:/bin"};
  EXPECT_EQ(in_child([&] {
              return become({"sh", "-c", "test \"$GIVEN\" = 7 && test -z \"$HOME\" && exit 33"},
                            &environment);
            }),
            33);
}

TEST(Become, KeepsItsOwnEnvironmentWhenNoneIsGiven) {
  setenv("WIREPROOF_TEST_KEPT", "yes", 1);
  EXPECT_EQ(
      in_child([] {
        return become({"sh", "-c", "test \"$WIREPROOF_TEST_KEPT\" = yes && exit 34"}, nullptr);
      }),
      34);
  unsetenv("WIREPROOF_TEST_KEPT");
}

TEST(Become, SaysAsEnvDoesWhyNot) {
  EXPECT_EQ(in_child([] { return become({"/nowhere/at/all"}, nullptr); }), 127);
  EXPECT_EQ(in_child([] { return become({"/etc"}, nullptr); }), 126);
}

TEST(Become, LeavesNoSignalBlockedAndNoPipeIgnored) {
  EXPECT_EQ(in_child([] {
              signal_descriptor({SIGTERM});
              signal(SIGPIPE, SIG_IGN);
              return become({"sh", "-c",
                             "m=$(sed -n 's/^SigBlk:[^0-9a-f]*//p' /proc/$$/status);"
                             "i=$(sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/$$/status);"
                             "test \"$(printf %d 0x$m)\" = 0 || exit 1;"
                             "test $(( 0x$i & 0x1000 )) = 0 && exit 35"},
                            nullptr);
            }),
            35);
}

struct Number {
  const char* text;
  std::int64_t value;  // -1: refused
};
class Numbers : public testing::TestWithParam<Number> {};
TEST_P(Numbers, AreDecimalAndNotNegative) {
  const auto& [text, value] = GetParam();
  if (value >= 0) {
    EXPECT_EQ(parse_number("--grace-ms", text), value);
  } else {
    const std::string said = failure_of([&, text = text] { parse_number("--grace-ms", text); });
    EXPECT_EQ(said, "--grace-ms takes a number, not '" + std::string(text) + "'");
  }
}
INSTANTIATE_TEST_SUITE_P(Texts, Numbers,
                         testing::Values(Number{"0", 0}, Number{"5000", 5000}, Number{"007", 7},
                                         Number{"9223372036854775807", INT64_MAX},
                                         Number{"9223372036854775808", -1}, Number{"-1", -1},
                                         Number{"", -1}, Number{" 1", -1}, Number{"1 ", -1},
                                         Number{"1e3", -1}, Number{"0x10", -1}, Number{"+1", -1},
                                         Number{"1.5", -1}));

}  // namespace
}  // namespace wireproof
