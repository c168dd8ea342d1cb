// The core that a rank is bound to, on synthetic machines.
#include "host/pin.hpp"

#include <gtest/gtest.h>

#include "temporary_tree.hpp"

namespace wireproof::host {
namespace {

/// Two sockets of four cores with two threads each: 0-3 and 8-11 on socket 0, 4-7 and 12-15 on 1.
class TwoSockets : public testing::Test {
 protected:
  TwoSockets() {
    for (int cpu = 0; cpu < 16; ++cpu) {
      const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      tree_.write(folder + "physical_package_id", std::to_string(cpu % 8 / 4) + "\n");
      tree_.write(folder + "thread_siblings_list",
                  std::to_string(cpu % 8) + "," + std::to_string(cpu % 8 + 8) + "\n");
      all_.push_back(cpu);
    }
    tree_.write("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    tree_.write("sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
    tree_.write("sys/class/net/hsn0/device/numa_node", "1\n");
    tree_.write("sys/class/net/hsn1/device/numa_node", "0\n");
    tree_.write("sys/class/net/eth0/device/numa_node", "-1\n");
    tree_.write("sys/class/infiniband/hfi1_0/device/numa_node", "1\n");
    tree_.write("sys/class/net/lo/ifindex", "1\n");
  }
  Pin choose(const std::string& nic, int ordinal) const {
    return choose_pin(Tree(tree_.root()), nic, all_, ordinal);
  }
  test::TemporaryTree tree_;
  std::vector<int> all_;
};

TEST_F(TwoSockets, EachRankHasACoreOfTheNicsSocket) {
  EXPECT_EQ(choose("hsn0", 0).core, 4);
  EXPECT_EQ(choose("hsn0", 3).core, 7);
  EXPECT_EQ(choose("hsn0", 4).core, 12);  // second threads once all cores are in use
  EXPECT_EQ(choose("hsn0", 8).core, 4);   // and around again
  EXPECT_EQ(choose("hsn0", 0).numa_node, 1);
  EXPECT_EQ(choose("hfi1_0", 1).core, 5);
}

TEST_F(TwoSockets, CoreZeroIsLeftToTheKernel) {
  EXPECT_EQ(choose("hsn1", 0).core, 1);
  EXPECT_EQ(choose("hsn1", 3).core, 9);  // of 1, 2, 3, then 9, 10, 11
  EXPECT_EQ(choose("hsn1", 6).core, 1);
  EXPECT_EQ(choose_pin(Tree(tree_.root()), "hsn1", {0, 4, 5}, 0).core, 0);  // there is no other
}

TEST_F(TwoSockets, ABoundRankStays) {
  EXPECT_FALSE(choose_pin(Tree(tree_.root()), "hsn0", {4}, 0).core);
  EXPECT_FALSE(choose_pin(Tree(tree_.root()), "hsn0", {4, 5, 6, 7}, 0).core);
  EXPECT_FALSE(
      // the wrong socket, but bound by the launcher
      choose_pin(Tree(tree_.root()), "hsn0", {0, 1}, 0).core);
  EXPECT_EQ(choose_pin(Tree(tree_.root()), "hsn0", {0, 1}, 0).numa_node, 1);
  EXPECT_FALSE(choose_pin(Tree(tree_.root()), "hsn0", {}, 0).core);
}

TEST_F(TwoSockets, UnknownNodesPinNothing) {
  for (const char* nic : {"eth0", "lo", "none", "", "../hsn0", "hsn0/device"}) {
    EXPECT_FALSE(choose(nic, 0).core) << nic;
    EXPECT_FALSE(choose(nic, 0).numa_node) << nic;
  }
  tree_.write("sys/class/net/hsn0/device/numa_node", "7\n");  // a node without processors
  EXPECT_FALSE(choose("hsn0", 0).core);
  tree_.write("sys/class/net/hsn0/device/local_cpulist", "6-7\n");
  EXPECT_EQ(choose("hsn0", 0).core, 6);
}

TEST(CpuList, IsReadAsFarAsItIsOne) {
  EXPECT_EQ(unfold_cpu_list("0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(unfold_cpu_list("5"), (std::vector<int>{5}));
  EXPECT_EQ(unfold_cpu_list("1,x,3"), (std::vector<int>{1}));
  EXPECT_TRUE(unfold_cpu_list("").empty());
  EXPECT_TRUE(unfold_cpu_list("3-1").empty());
  EXPECT_TRUE(unfold_cpu_list("0-4294967295").empty());
  EXPECT_TRUE(unfold_cpu_list("-1").empty());
}

}  // namespace
}  // namespace wireproof::host
