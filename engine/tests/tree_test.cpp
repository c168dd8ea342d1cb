// A machine's files below a folder: reads stay inside it, are limited to regular files, and are
// bounded.
#include "base/tree.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/failure.hpp"
#include "temporary_tree.hpp"

namespace wireproof {
namespace {

using test::TemporaryTree;

TEST(Tree, FollowsLinksInside) {
  TemporaryTree tree;
  tree.write("sys/devices/pci/net/eth0/mtu", "1500\n");
  tree.link("sys/class/net/eth0", "../../devices/pci/net/eth0");
  tree.link("absolute", "/sys/class/net");
  const Tree files(tree.root());
  EXPECT_EQ(files.line("sys/class/net/eth0/mtu"), "1500");
  EXPECT_EQ(files.number("absolute/eth0/mtu"), 1500U) << "begins at the root of the tree";
  EXPECT_EQ(files.line("sys/class/net/eth0/../eth0/mtu"), "1500") << "as the kernel: of the target";
  EXPECT_EQ(files.target("sys/class/net/eth0"), "../../devices/pci/net/eth0");
  EXPECT_EQ(files.target_name("sys/class/net/eth0"), "eth0");
  EXPECT_EQ(files.target("sys/class/net"), "");
  EXPECT_EQ(files.list("sys/class/net"), std::vector<std::string>{"eth0"});
  EXPECT_TRUE(files.is_folder("absolute"));
  EXPECT_FALSE(files.is_folder("absolute/eth0/mtu"));
}

TEST(Tree, NoLinkLeadsOut) {
  TemporaryTree outside;
  outside.write("secret", "42\n");
  TemporaryTree tree;
  tree.link("folder", outside.root());
  tree.link("file", outside.path("secret"));
  tree.link("up", "../../../../../../../../../../" + outside.path("secret"));
  tree.write("inner/x", "1\n");
  const Tree files(tree.root());
  for (const char* path : {"folder/secret", "file", "up", "inner/../../secret"}) {
    EXPECT_EQ(files.line(path), "") << path;
    EXPECT_FALSE(files.exists(path)) << path;
  }
  EXPECT_EQ(files.line("inner/../../../inner/x"), "1") << "above the root there is the root";
  EXPECT_TRUE(files.list("folder").empty());
}

TEST(Tree, LinksInACircleEnd) {
  TemporaryTree tree;
  tree.link("a", "b");
  tree.link("b", "a");
  tree.link("self", "self/x");
  const Tree files(tree.root());
  for (const char* path : {"a", "a/x", "self", "self/y"}) EXPECT_EQ(files.line(path), "") << path;
}

TEST(Tree, OnlyRegularFilesAreOpened) {
  TemporaryTree tree;
  tree.write("folder/x", "1\n");
  ASSERT_EQ(::mkfifo(tree.path("fifo").c_str(), 0600), 0);
  const Tree files(tree.root());
  EXPECT_EQ(files.read("fifo", 10).reason, "not a regular file");
  EXPECT_EQ(files.read("folder", 10).reason, "not a regular file");
  EXPECT_EQ(files.read("none", 10).status, ReadStatus::missing);
  EXPECT_EQ(files.read("folder/x/y", 10).status, ReadStatus::missing);
  EXPECT_EQ(Tree().read("dev/zero", 10).reason, "not a regular file");
}

TEST(Tree, AFolderMadeAnewIsSeen) {
  TemporaryTree tree;
  tree.write("a/x", "1\n");
  const Tree files(tree.root());
  EXPECT_EQ(files.line("a/x"), "1");
  tree.remove("a");
  tree.write("a/x", "2\n");
  EXPECT_EQ(files.list("a").size(), 1U);
  EXPECT_EQ(files.line("a/x"), "2");
}

TEST(Tree, LongFilesAreCut) {
  TemporaryTree tree;
  tree.write("long", std::string(100'000, '7'));
  EXPECT_EQ(Tree(tree.root()).read("long", 1000).text.size(), 1000U);
  EXPECT_TRUE(Tree(tree.root()).read("long", 1000).truncated);
  EXPECT_FALSE(Tree(tree.root()).number("long").has_value());
}

TEST(Tree, AMissingRootHasNothing) {
  const Tree files("/nowhere/at/all");
  EXPECT_FALSE(files.exists("proc"));
  EXPECT_TRUE(files.list("").empty());
  EXPECT_NE(files.read("etc/hostname", 10).status, ReadStatus::ok);
}

TEST(ExpandRoot, HostAndRank) {
  EXPECT_EQ(expand_root("/t/{host}/{rank}/{rank}", "n1", 7), "/t/n1/7/7");
  EXPECT_EQ(expand_root("/t", "", 0), "/t");
  EXPECT_EQ(expand_root("/t/{host}", "{host}", 0), "/t/{host}") << "replaced once";
  for (const char* host : {"", ".", "..", "../x", "a/b"})
    EXPECT_THROW(expand_root("/t/{host}", host, 0), Failure) << host;
}

}  // namespace
}  // namespace wireproof
