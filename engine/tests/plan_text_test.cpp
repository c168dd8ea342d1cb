// The plan's text from files and pipes, and text split line by line and word by word.
#include "plan/plan_text.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "base/failure.hpp"
#include "base/text_split.hpp"
#include "tests/temporary_tree.hpp"

namespace wireproof {
namespace {

using test::TemporaryTree;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (const auto line = take_line(text)) lines.emplace_back(*line);
  return lines;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (auto word = take_word(text); !word.empty(); word = take_word(text)) words.emplace_back(word);
  return words;
}

std::string complaint(const std::string& file, std::size_t limit = kLongestPlan) {
  try {
    read_plan_text(file, limit);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_plan);
    return failure.what();
  }
  return "";
}

/// Standard input is one end of a pipe during the lifetime of this object.
class InsteadOfStandardInput {
 public:
  explicit InsteadOfStandardInput(int descriptor) : saved_(::dup(STDIN_FILENO)) {
    ::dup2(descriptor, STDIN_FILENO);
    ::close(descriptor);
  }
  ~InsteadOfStandardInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  InsteadOfStandardInput(const InsteadOfStandardInput&) = delete;
  InsteadOfStandardInput& operator=(const InsteadOfStandardInput&) = delete;

 private:
  int saved_;
};

TEST(Pieces, LinesEndWithANewlineOrWithTheText) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("a"), Lines{"a"});
  EXPECT_EQ(lines_of("a\n"), Lines{"a"});
  EXPECT_EQ(lines_of("\n"), Lines{""});
  EXPECT_EQ(lines_of("a\n\nb c\n\n"), (Lines{"a", "", "b c", ""}));
  EXPECT_EQ(lines_of(std::string_view("a\0b\nc", 5)), (Lines{std::string("a\0b", 3), "c"}));
}

TEST(Pieces, WordsStandBetweenBlanks) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" \t\r\n"), Words{});
  EXPECT_EQ(words_of("one"), Words{"one"});
  EXPECT_EQ(words_of(" \tone\v two\fthree\r\n"), (Words{"one", "two", "three"}));
}

TEST(PlanText, FileIsReadWhole) {
  const TemporaryTree tree;
  const std::string text = std::string(3'000'000, 'x') + std::string("\0end", 4);
  tree.write("plan", text);
  EXPECT_EQ(read_plan_text(tree.path("plan")), text);
  EXPECT_EQ(read_plan_text(tree.path("plan"), text.size()), text);
}

TEST(PlanText, PipeThatDoesNotBlockIsReadWhole) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  const InsteadOfStandardInput input(ends[0]);
  std::string text;
  for (int i = 0; text.size() < 5'000'000; ++i) text += "point id=" + std::to_string(i) + "\n";
  std::thread writer([&text, sink = ends[1]] {
    ::fcntl(sink, F_SETFL, 0);  // only the reader's end is non-blocking
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t got = ::write(sink, text.data() + sent, text.size() - sent);
      if (got <= 0) break;
      sent += static_cast<std::size_t>(got);
    }
    ::close(sink);
  });
  const std::string seen = read_plan_text("-");
  writer.join();
  EXPECT_EQ(seen, text);
}

TEST(PlanText, PacedPlanIsAcknowledgedAsItIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const InsteadOfStandardInput input(ends[0]);
  const std::string text = std::string(kPaced) + "wireproof-plan 1\npoint id=0\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  ::testing::internal::CaptureStdout();
  const std::string seen = read_plan_text("-");
  const std::string frame =
      "{\"frame\":\"plan\",\"read_bytes\":" + std::to_string(text.size()) + "}\n";
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), frame);
  EXPECT_EQ(seen, "wireproof-plan 1\npoint id=0\n");
}

TEST(PlanText, EmptyInputIsAnEmptyPlan) {
  const InsteadOfStandardInput input(::open("/dev/null", O_RDONLY));
  EXPECT_EQ(read_plan_text("-"), "");
}

TEST(PlanText, WhatCannotBeReadIsSaidWithItsCause) {
  const TemporaryTree tree;
  tree.write("plan", "wireproof-plan 1\n");
  EXPECT_EQ(complaint(tree.path("none")),
            "cannot read the plan " + tree.path("none") + ": No such file or directory");
  EXPECT_EQ(complaint(tree.root()), "cannot read the plan " + tree.root() + ": Is a directory");
  EXPECT_EQ(complaint(tree.path("plan"), 16),
            "cannot read the plan " + tree.path("plan") + ": it is longer than 16 bytes");
  EXPECT_NE(complaint("/dev/zero", 100'000).find("longer than 100000 bytes"), std::string::npos);
  const InsteadOfStandardInput write_only(::open("/dev/null", O_WRONLY));
  EXPECT_EQ(complaint("-"), "cannot read the plan from standard input: Bad file descriptor");
}

}  // namespace
}  // namespace wireproof
