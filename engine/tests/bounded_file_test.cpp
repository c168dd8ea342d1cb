// Files that others have created: bounded, never waited for, and reported as what they are.
#include "base/bounded_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/text_split.hpp"
#include "temporary_tree.hpp"

namespace wireproof {
namespace {

using test::TemporaryTree;
using test::WithoutPrivilege;

TEST(ReadBounded, AWholeFile) {
  const TemporaryTree tree;
  tree.write("a", "one\ntwo\n");
  const FileText file = read_bounded(tree.path("a"), 100);
  EXPECT_EQ(file.status, ReadStatus::ok);
  EXPECT_EQ(file.text, "one\ntwo\n");
  EXPECT_FALSE(file.truncated);
  EXPECT_EQ(file.reason, "");
}

TEST(ReadBounded, AnEmptyFileIsNoMissingOne) {
  const TemporaryTree tree;
  tree.write("a", "");
  const FileText file = read_bounded(tree.path("a"), 100);
  EXPECT_EQ(file.status, ReadStatus::ok);
  EXPECT_EQ(file.text, "");
}

struct Limit {
  std::size_t size;
  std::size_t limit;
  bool truncated;
};
class Limits : public testing::TestWithParam<Limit> {};
TEST_P(Limits, CutExactlyWhatIsBeyond) {
  const TemporaryTree tree;
  const std::string text(GetParam().size, 'x');
  tree.write("a", text);
  const FileText file = read_bounded(tree.path("a"), GetParam().limit);
  EXPECT_EQ(file.truncated, GetParam().truncated);
  EXPECT_EQ(file.text.size(), std::min(GetParam().size, GetParam().limit));
}
INSTANTIATE_TEST_SUITE_P(Sizes, Limits,
                         testing::Values(Limit{10, 10, false}, Limit{11, 10, true},
                                         Limit{9, 10, false}, Limit{1, 0, true}, Limit{0, 0, false},
                                         Limit{16384, 16384, false}, Limit{16385, 16384, true},
                                         Limit{100'000, 50'000, true},
                                         Limit{100'000, 100'000, false}));

TEST(ReadBounded, BytesAreKeptAsTheyAre) {
  const TemporaryTree tree;
  const std::string bytes("a\0b\xFF\r\n", 6);
  tree.write("a", bytes);
  EXPECT_EQ(read_bounded(tree.path("a"), 100).text, bytes);
}

TEST(ReadBounded, WhatIsMissingIsSaid) {
  const TemporaryTree tree;
  tree.write("a", "x");
  for (const std::string& path :
       {tree.path("b"), tree.path("a/b"), std::string(), tree.path("a") + std::string(1, '\0')}) {
    const FileText file = read_bounded(path, 100);
    EXPECT_EQ(file.status, ReadStatus::missing) << path;
    EXPECT_NE(file.reason, "");
  }
}

TEST(ReadBounded, WhatIsDeniedIsSaid) {
  const TemporaryTree tree;
  tree.write("a", "secret");
  ASSERT_EQ(::chmod(tree.path("a").c_str(), 0), 0);
  const WithoutPrivilege nobody(tree);
  const FileText file = read_bounded(tree.path("a"), 100);
  EXPECT_EQ(file.status, ReadStatus::denied);
  EXPECT_EQ(file.text, "");
}

TEST(ReadBounded, FoldersAndFifosAreNotOpened) {
  const TemporaryTree tree;
  tree.write("folder/a", "x");
  ASSERT_EQ(::mkfifo(tree.path("fifo").c_str(), 0600), 0);
  for (const char* name : {"folder", "fifo"}) {
    const FileText file = read_bounded(tree.path(name), 100);
    EXPECT_EQ(file.status, ReadStatus::failed) << name;
    EXPECT_EQ(file.reason, "not a regular file");
  }
  EXPECT_EQ(read_bounded("/dev/zero", 100).status, ReadStatus::failed);
}

struct Cause {
  int error;
  ReadStatus status;
};
class Causes : public testing::TestWithParam<Cause> {};
TEST_P(Causes, AreSortedIntoWhatTheyMean) {
  const FileText file = failed_reading(GetParam().error);
  EXPECT_EQ(file.status, GetParam().status);
  EXPECT_EQ(file.reason, std::strerror(GetParam().error));
  EXPECT_EQ(file.text, "");
}
INSTANTIATE_TEST_SUITE_P(
    Errors, Causes,
    testing::Values(Cause{ENOENT, ReadStatus::missing}, Cause{ENOTDIR, ReadStatus::missing},
                    Cause{ENODEV, ReadStatus::missing}, Cause{ENXIO, ReadStatus::missing},
                    Cause{EACCES, ReadStatus::denied}, Cause{EPERM, ReadStatus::denied},
                    Cause{EIO, ReadStatus::failed}, Cause{EINVAL, ReadStatus::failed},
                    Cause{EOPNOTSUPP, ReadStatus::failed}));

TEST(ReadAll, APipeIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) {
      const std::string piece(1000, static_cast<char>('a' + i % 26));
      static_cast<void>(!::write(ends[1], piece.data(), piece.size()));
    }
    ::close(ends[1]);
  });
  const FileText file = read_all(ends[0], 1 << 20);
  writer.join();
  ::close(ends[0]);
  EXPECT_EQ(file.text.size(), 50'000U);
  EXPECT_FALSE(file.truncated);
}

TEST(ReadAll, AnEmptyPipeThatDoesNotBlockFails) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  EXPECT_EQ(read_all(ends[0], 100).status, ReadStatus::failed);
  ASSERT_EQ(::write(ends[1], "abc", 3), 3);
  const FileText some = read_all(ends[0], 100);
  EXPECT_EQ(some.status, ReadStatus::ok);
  EXPECT_EQ(some.text, "abc");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ReadAll, ADescriptorThatIsNoneFails) {
  EXPECT_EQ(read_all(-1, 100).status, ReadStatus::failed);
}

struct Line {
  const char* text;
  const char* line;
};
class Lines : public testing::TestWithParam<Line> {};
TEST_P(Lines, AreTheFirstWithoutBlanks) {
  const TemporaryTree tree;
  tree.write("a", GetParam().text);
  EXPECT_EQ(read_line(tree.path("a")), GetParam().line);
}
INSTANTIATE_TEST_SUITE_P(Texts, Lines,
                         testing::Values(Line{"", ""}, Line{"\n", ""}, Line{"a", "a"},
                                         Line{"a\n", "a"}, Line{"a\nb\n", "a"},
                                         Line{"  a b \t\r\n", "a b"}, Line{" \n x", ""},
                                         Line{"\t1\t", "1"}));

TEST(ReadLine, OfAMissingFileIsEmpty) { EXPECT_EQ(read_line("/nowhere/at/all"), ""); }

TEST(FirstLine, OfAFailedReadingIsEmptyThoughThereIsText) {
  FileText file;
  file.text = "half of it";
  EXPECT_EQ(first_line(file), "");
}

struct Unsigned {
  std::string_view text;
  std::optional<std::uint64_t> number;
};
class Unsigneds : public testing::TestWithParam<Unsigned> {};
TEST_P(Unsigneds, AreDecimalAndWhole) {
  EXPECT_EQ(parse_unsigned(GetParam().text), GetParam().number);
}
INSTANTIATE_TEST_SUITE_P(
    Texts, Unsigneds,
    testing::Values(Unsigned{"0", 0}, Unsigned{"12\n", 12}, Unsigned{" 7 ", 7},
                    Unsigned{"18446744073709551615", UINT64_MAX}, Unsigned{"007", 7},
                    Unsigned{"18446744073709551616", std::nullopt}, Unsigned{"", std::nullopt},
                    Unsigned{" \n", std::nullopt}, Unsigned{"-1", std::nullopt},
                    Unsigned{"+1", std::nullopt}, Unsigned{"1 2", std::nullopt},
                    Unsigned{"1x", std::nullopt}, Unsigned{"0x10", std::nullopt},
                    Unsigned{"1.0", std::nullopt}));

TEST(ListDirectory, NamesAreSorted) {
  const TemporaryTree tree;
  for (const char* name : {"b", "a", "c10", "c2", ".hidden"}) tree.write(name, "");
  EXPECT_EQ(list_directory(tree.root()),
            (std::vector<std::string>{".hidden", "a", "b", "c10", "c2"}));
}

TEST(ListDirectory, OfNoFolderIsEmpty) {
  const TemporaryTree tree;
  tree.write("a", "");
  EXPECT_EQ(list_directory(tree.path("a")), std::vector<std::string>{});
  EXPECT_EQ(list_directory(tree.path("b")), std::vector<std::string>{});
}

TEST(ListDirectory, IsBoundedAndClosesWhatItWasGiven) {
  const TemporaryTree tree;
  for (int i = 0; i < 20; ++i) tree.write("f" + std::to_string(i), "");
  const int descriptor = ::open(tree.root().c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(list_open_directory(descriptor, 7).size(), 7U);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
}

TEST(UnderRoot, JoinsWithOneSlash) {
  EXPECT_EQ(under_root("/", "sys/class"), "/sys/class");
  EXPECT_EQ(under_root("/tmp/tree", "sys/class"), "/tmp/tree/sys/class");
}

struct Split {
  std::string_view text;
  std::vector<std::string_view> words;
};
class Words : public testing::TestWithParam<Split> {};
TEST_P(Words, StandBetweenBlanks) {
  std::string_view left = GetParam().text;
  std::vector<std::string_view> words;
  for (std::string_view word = take_word(left); !word.empty(); word = take_word(left)) {
    words.push_back(word);
  }
  EXPECT_EQ(words, GetParam().words);
}
INSTANTIATE_TEST_SUITE_P(Texts, Words,
                         testing::Values(Split{"", {}}, Split{" \t\n\v\f\r", {}}, Split{"a", {"a"}},
                                         Split{" a  b ", {"a", "b"}},
                                         Split{"a\tb\nc", {"a", "b", "c"}},
                                         Split{"eth0: 1 2", {"eth0:", "1", "2"}}));

TEST(TakeLine, EveryLineOnceWhateverTheEnding) {
  const auto lines = [](std::string_view text) {
    std::vector<std::string> found;
    while (const auto line = take_line(text)) found.emplace_back(*line);
    return found;
  };
  EXPECT_EQ(lines(""), (std::vector<std::string>{}));
  EXPECT_EQ(lines("\n"), (std::vector<std::string>{""}));
  EXPECT_EQ(lines("a\n\nb"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines("a\nb\n"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines("a\r\n"), (std::vector<std::string>{"a\r"}));
}

}  // namespace
}  // namespace wireproof
