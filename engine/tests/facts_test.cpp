// Facts: raw text, bounded in time and size, from hostile files and commands.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/bounded_file.hpp"
#include "base/program.hpp"
#include "facts/batch.hpp"
#include "facts/collect.hpp"
#include "facts/command.hpp"
#include "tests/temporary_tree.hpp"

namespace wireproof::facts {
namespace {

using test::TemporaryTree;

FactRequest file(const std::string& path) {
  FactRequest request;
  request.path = path;
  return request;
}

FactRequest command(std::vector<std::string> argv, int timeout_ms = 5000) {
  FactRequest request;
  request.kind = FactRequest::Kind::command;
  request.argv = std::move(argv);
  request.timeout_ms = timeout_ms;
  return request;
}

Fact only(const FactRequest& request) {
  auto all = collect(request);
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? Fact{} : all.front();
}

TEST(Facts, FileTextIsRaw) {
  TemporaryTree tree;
  tree.write("a", std::string("line\n\0\xff end", 11));
  const Fact fact = only(file(tree.path("a")));
  EXPECT_EQ(fact.status, Status::ok);
  EXPECT_EQ(fact.text, std::string("line\n\0\xff end", 11));
  EXPECT_FALSE(fact.truncated);
}

TEST(Facts, FileIsCutAtItsLimit) {
  TemporaryTree tree;
  tree.write("a", "0123456789");
  FactRequest request = file(tree.path("a"));
  request.limit_bytes = 10;
  EXPECT_FALSE(only(request).truncated);
  request.limit_bytes = 4;
  const Fact fact = only(request);
  EXPECT_EQ(fact.text, "0123");
  EXPECT_TRUE(fact.truncated);
}

TEST(Facts, MissingAndEmptyPath) {
  EXPECT_EQ(only(file("/no/such/file")).status, Status::missing);
  EXPECT_EQ(only(file("")).status, Status::missing);
}

TEST(Facts, FifoFolderAndDeviceAreNotOpened) {
  TemporaryTree tree;
  ASSERT_EQ(::mkfifo(tree.path("fifo").c_str(), 0600), 0);
  for (const std::string& path : {tree.path("fifo"), tree.root(), std::string("/dev/zero")}) {
    const Fact fact = only(file(path));
    EXPECT_EQ(fact.status, Status::failed) << path;
    EXPECT_EQ(fact.reason, "not a regular file");
  }
}

TEST(Facts, ProcFileThatClaimsNoSizeIsRead) {
  const Fact fact = only(file("/proc/self/status"));
  EXPECT_EQ(fact.status, Status::ok);
  EXPECT_NE(fact.text.find("Name:"), std::string::npos);
}

TEST(Facts, DeniedFile) {
  TemporaryTree tree;
  tree.write("a", "secret");
  ::chmod(tree.path("a").c_str(), 0);
  const test::WithoutPrivilege unprivileged(tree);
  EXPECT_EQ(only(file(tree.path("a"))).status, Status::denied);
}

TEST(Facts, GlobListsItsMatchesThenTheirTexts) {
  TemporaryTree tree;
  tree.write("d/x1", "one");
  tree.write("d/x2", "two");
  tree.write("d/xfolder/file", "");
  FactRequest request = file(tree.path("d/x*"));
  request.kind = FactRequest::Kind::glob;
  const auto facts = collect(request);
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].kind, FactRequest::Kind::glob);
  EXPECT_EQ(facts[0].text,
            tree.path("d/x1") + "\n" + tree.path("d/x2") + "\n" + tree.path("d/xfolder") + "\n");
  EXPECT_EQ(facts[1].kind, FactRequest::Kind::file);
  EXPECT_EQ(facts[2].text, "two");
}

TEST(Facts, GlobWithoutMatchIsEvidenceOfAbsence) {
  FactRequest request = file("/no/such/*");
  request.kind = FactRequest::Kind::glob;
  EXPECT_EQ(only(request).status, Status::missing);
}

TEST(Facts, GlobIsBounded) {
  TemporaryTree tree;
  for (std::size_t i = 0; i < kMaxMatches + 5; ++i) tree.write("many/" + std::to_string(i), "");
  FactRequest request = file(tree.path("many/*"));
  request.kind = FactRequest::Kind::glob;
  request.timeout_ms = 20'000;
  const auto facts = collect(request);
  EXPECT_EQ(facts.size(), 1 + kMaxMatches);
  EXPECT_TRUE(facts[0].truncated);
}

TEST(Facts, CommandOutputAndExitStatus) {
  const Fact good = only(command({"/bin/sh", "-c", "printf 'a b'; printf oops >&2"}));
  EXPECT_EQ(good.status, Status::ok);
  EXPECT_EQ(good.text, "a b");
  EXPECT_EQ(good.reason, "oops");
  EXPECT_EQ(good.exit_status, 0);
  const Fact bad = only(command({"/bin/sh", "-c", "echo partly; exit 3"}));
  EXPECT_EQ(bad.status, Status::failed);
  EXPECT_EQ(bad.exit_status, 3);
  EXPECT_EQ(bad.text, "partly\n");
  EXPECT_EQ(only(command({"/bin/sh", "-c", "kill -9 $$"})).exit_status, 128 + SIGKILL);
}

TEST(Facts, ArgumentsAreNotInterpreted) {
  const Fact fact = only(command({"echo", "$HOME; `id` *"}));
  EXPECT_EQ(fact.text, "$HOME; `id` *\n");
}

TEST(Facts, CommandMissingDeniedOrEmpty) {
  TemporaryTree tree;
  tree.write("script", "#!/bin/sh\n");
  EXPECT_EQ(only(command({"wireproof-no-such-program"})).status, Status::missing);
  EXPECT_EQ(only(command({tree.path("script")})).status, Status::denied);
  EXPECT_EQ(only(command({})).status, Status::failed);
}

TEST(Facts, CommandReadsNothing) {
  EXPECT_EQ(only(command({"cat"})).status, Status::ok) << "standard input must be empty, not ours";
}

TEST(Facts, HangingCommandIsKilledWithItsChildren) {
  TemporaryTree tree;
  const auto start = std::chrono::steady_clock::now();
  const std::string script = "sleep 60 & echo $! > " + tree.path("pid") + "; echo before; wait";
  const Fact fact = only(command({"/bin/sh", "-c", script}, 300));
  EXPECT_EQ(fact.status, Status::timeout);
  EXPECT_EQ(fact.text, "before\n");
  EXPECT_FALSE(fact.exit_status.has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  const auto child = parse_unsigned(read_line(tree.path("pid")));
  ASSERT_TRUE(child.has_value());
  // If nobody reaps the child it may stay a zombie, but it must not be alive. On a busy machine a
  // killed process may get its last time slice after we check.
  const std::string stat = "/proc/" + std::to_string(*child) + "/stat";
  const auto dead = [&] {
    const std::string state = read_bounded(stat, 200).text;
    return state.empty() || state.find(") Z") != std::string::npos;
  };
  for (int i = 0; i < 1000 && !dead(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(dead()) << read_bounded(stat, 200).text;
}

TEST(Facts, EndlessOutputEndsAtTheDeadline) {
  FactRequest request = command({"yes"}, 300);
  request.limit_bytes = 100;
  const Fact fact = only(request);
  EXPECT_EQ(fact.status, Status::timeout);
  EXPECT_EQ(fact.text.size(), 100U);
  EXPECT_TRUE(fact.truncated);
}

TEST(Facts, LongOutputIsCutButTheExitStatusIsTrue) {
  FactRequest request = command({"/bin/sh", "-c", "head -c 300000 /dev/zero; exit 4"});
  request.limit_bytes = 1000;
  const Fact fact = only(request);
  EXPECT_EQ(fact.exit_status, 4);
  EXPECT_EQ(fact.text.size(), 1000U);
  EXPECT_TRUE(fact.truncated);
}

TEST(Facts, DaemonThatHoldsThePipeDoesNotHoldUs) {
  const auto start = std::chrono::steady_clock::now();
  const Fact fact = only(command({"/bin/sh", "-c", "sleep 20 & echo done"}, 15'000));
  EXPECT_EQ(fact.status, Status::ok);
  EXPECT_EQ(fact.text, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Facts, CommandsGetNoLauncherVariables) {
  const char* const environment[] = {
      "PATH=/opt/bin",   "LD_PRELOAD=evil.so", "PMI_FD=7", "OMPI_COMM_WORLD_RANK=0",
      "LANG=de_DE.utf8", "HOME=/home/u",       nullptr};
  const auto result = command_environment(environment);
  EXPECT_EQ(result, (std::vector<std::string>{"LC_ALL=C", "HOME=/home/u",
                                              "PATH=/opt/bin:/usr/sbin:/sbin"}));
}

TEST(Facts, ProgramsOfTheSystemAreFoundWhateverThePath) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/opt/bin:.::relative", 1);
  search_absolute_folders_only();
  EXPECT_STREQ(std::getenv("PATH"), "/opt/bin:/usr/sbin:/sbin");
  ::setenv("PATH", before.c_str(), 1);
}

TEST(Facts, FrameEscapesHostileText) {
  Fact fact;
  fact.status = Status::ok;
  fact.path = "/x\ny";
  fact.text = "\xff\"";
  EXPECT_EQ(
      frame(1, fact),
      "{\"frame\":\"fact\",\"rank\":1,\"kind\":\"file\",\"status\":\"ok\",\"path\":\"/x\\ny\","
      "\"text\":\"\xEF\xBF\xBD\\\"\",\"truncated\":false}");
}

class FactsMain : public ::testing::Test {
 protected:
  int run(const std::string& spec) {
    tree_.write("spec", spec);
    std::string program = "facts";
    std::string option = "--spec";
    std::string path = tree_.path("spec");
    char* argv[] = {program.data(), option.data(), path.data(), nullptr};
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = facts_main(3, argv);
    output_ = ::testing::internal::GetCapturedStdout();
    errors_ = ::testing::internal::GetCapturedStderr();
    return status;
  }
  TemporaryTree tree_;
  std::string output_;
  std::string errors_;
};

TEST_F(FactsMain, OneFramePerRequest) {
  EXPECT_EQ(
      run("wireproof-plan 1\nfact kind=command argv=echo,a%2Cb\nfact kind=file path=/no/such\n"),
      0);
  EXPECT_EQ(std::count(output_.begin(), output_.end(), '\n'), 2);
  EXPECT_NE(output_.find("\"text\":\"a,b\\n\""), std::string::npos);
  EXPECT_NE(output_.find("\"status\":\"missing\""), std::string::npos);
}

TEST_F(FactsMain, BadSpecNamesItsLineAndWritesNothing) {
  EXPECT_EQ(run("wireproof-plan 1\nfact kind=file path=/etc/hostname\nfact kind=rumour path=/x\n"),
            2);
  EXPECT_EQ(output_, "");
  EXPECT_NE(errors_.find("3"), std::string::npos) << errors_;
}

TEST_F(FactsMain, UnknownOptionIsAnError) {
  std::string program = "facts";
  std::string option = "--help-me";
  char* argv[] = {program.data(), option.data(), nullptr};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(facts_main(2, argv), 2);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("--help-me"), std::string::npos);
}

TEST(Facts, CommandsOfABatchRunBesideEachOtherAndKeepTheirOrder) {
  // Each waits for the next one's file, so one after another they would never end.
  TemporaryTree tree;
  std::vector<FactRequest> requests;
  for (int i = 0; i < 4; ++i) {
    const std::string own = tree.path("f" + std::to_string(i));
    const std::string other = tree.path("f" + std::to_string((i + 1) % 4));
    const std::string script = ": > " + own + "; while [ ! -e " + other +
                               " ]; do sleep 0.01; done; echo " + std::to_string(i);
    requests.push_back(command({"sh", "-c", script}, 20000));
    requests.push_back(file("/no/such/file"));
  }
  const auto found = collect_all(requests, "/");
  ASSERT_EQ(found.size(), 8U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(found[2 * i].front().text, std::to_string(i) + "\n");
    EXPECT_EQ(found[2 * i + 1].front().status, Status::missing);
  }
}

TEST(Facts, ABatchThatHangsEndsAndSaysWhatItDidNotAsk) {
  std::vector<FactRequest> requests(3 * kMostCommands, command({"sleep", "600"}, 600'000));
  requests.push_back(file("/proc/self/status"));
  const auto found = collect_all(requests, "/", std::chrono::milliseconds(300));
  EXPECT_EQ(found.back().front().status, Status::ok);
  for (std::size_t i = 0; i < 3 * kMostCommands; ++i)
    EXPECT_EQ(found[i].front().status, Status::timeout);
  EXPECT_NE(found[3 * kMostCommands - 1].front().reason.find("was not asked for"),
            std::string::npos);
}

}  // namespace
}  // namespace wireproof::facts
