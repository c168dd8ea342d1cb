// The host frame for synthetic trees and for this host.
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/gather.hpp"
#include "tests/temporary_tree.hpp"

namespace wireproof::host {
namespace {

using test::TemporaryTree;

TEST(Host, ThisHostKnowsItself) {
  const Host host = gather();
  EXPECT_EQ(host.pid, ::getpid());
  EXPECT_NE(host.netns, 0U);
  EXPECT_GE(host.cpu_count, 1);
  EXPECT_FALSE(host.cpus_allowed.empty());
  EXPECT_FALSE(host.boot_id.empty());
  EXPECT_EQ(share_memory(host, gather()), host.shm_device != 0);
}

TEST(Host, MemoryIsSharedOnlyOnOneKernelAndOneTmpfs) {
  Host one;
  one.kernel_boot_id = "a";
  one.shm_device = 5;
  Host other = one;
  EXPECT_TRUE(share_memory(one, other));
  other.shm_device = 6;
  EXPECT_FALSE(share_memory(one, other));
  other = one;
  other.kernel_boot_id = "b";
  EXPECT_FALSE(share_memory(one, other));
  one.shm_device = 0;
  EXPECT_FALSE(share_memory(one, one)) << "unknown is not shared";
}

TEST(Host, IdentityComesFromTheTree) {
  TemporaryTree tree;
  tree.write("etc/machine-id", "0123456789abcdef\n");
  const Host host = gather(Tree(tree.root()));
  EXPECT_EQ(host.machine_id, "0123456789abcdef");
  EXPECT_EQ(host.boot_id, "");
  EXPECT_EQ(host.netns, 0U) << "ours is not the tree's";
  EXPECT_TRUE(host.nics.empty());
}

TEST(Host, ATreeMaySayItsNamespaceAndName) {
  TemporaryTree tree;
  tree.write("proc/sys/kernel/random/boot_id", "b\n");
  tree.write("netns", "4026531840\n");
  tree.write("etc/hostname", "n7\n");
  const Host host = gather(Tree(tree.root()));
  EXPECT_EQ(host.boot_id, "b");
  EXPECT_EQ(host.netns, 4026531840U);
  EXPECT_EQ(host.hostname, "n7");
  EXPECT_NE(host.kernel_boot_id, "b");
}

TEST(Host, FoldsCpuLists) {
  EXPECT_EQ(fold_cpu_list({}), "");
  EXPECT_EQ(fold_cpu_list({3}), "3");
  EXPECT_EQ(fold_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

}  // namespace
}  // namespace wireproof::host
