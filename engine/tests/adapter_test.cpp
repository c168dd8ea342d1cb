// The hardware behind a port: PCI addresses, configuration space, functions and slots.
#include "host/adapter.hpp"

#include <gtest/gtest.h>

#include "json_value.hpp"
#include "temporary_tree.hpp"

namespace wireproof::host {
namespace {

using test::TemporaryTree;

struct Address {
  const char* text;
  bool is_one;
};
class PciAddresses : public testing::TestWithParam<Address> {};
TEST_P(PciAddresses, HaveOneShape) {
  EXPECT_EQ(is_pci_address(GetParam().text), GetParam().is_one);
}
INSTANTIATE_TEST_SUITE_P(
    Texts, PciAddresses,
    testing::Values(Address{"0000:3b:00.0", true}, Address{"abcd:EF:1f.7", true},
                    Address{"10000:e1:00.0", true}, Address{"0000:3b:00", false},
                    Address{"0000:3b:00.", false}, Address{"000:3b:00.0", false},
                    Address{"0000:3b:00.00", false}, Address{"0000:3g:00.0", false},
                    Address{"0000-3b-00.0", false}, Address{"", false}, Address{"virtio0", false},
                    Address{"x0000:3b:00.0", false}));

/// A configuration space with capabilities at these offsets.
class Configuration {
 public:
  Configuration() : bytes_(4096, '\0') {}
  Configuration& word(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes_[at + i] = static_cast<char>(value >> (8 * i));
    return *this;
  }
  /// An extended capability that points to the one at `next`.
  Configuration& capability(std::size_t at, std::uint32_t id, std::uint32_t next) {
    return word(at, id | 1U << 16 | next << 20);
  }
  Configuration& serial(std::size_t at, std::uint32_t low, std::uint32_t high) {
    return word(at + 4, low).word(at + 8, high);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

TEST(SerialNumber, IsFoundAtTheHeadOfTheList) {
  const Configuration space =
      Configuration().capability(0x100, 3, 0).serial(0x100, 0x89abcdef, 0x01234567);
  EXPECT_EQ(serial_number(space.bytes()), "01-23-45-67-89-ab-cd-ef");
}

TEST(SerialNumber, IsFoundBehindOtherCapabilities) {
  const Configuration space = Configuration()
                                  .capability(0x100, 1, 0x148)
                                  .capability(0x148, 0x10, 0x200)
                                  .capability(0x200, 3, 0)
                                  .serial(0x200, 1, 0);
  EXPECT_EQ(serial_number(space.bytes()), "00-00-00-00-00-00-00-01");
}

TEST(SerialNumber, OfZerosIsNone) {
  const Configuration space = Configuration().capability(0x100, 3, 0).serial(0x100, 0, 0);
  EXPECT_EQ(serial_number(space.bytes()), "");
}

TEST(SerialNumber, WithoutTheCapabilityIsNone) {
  EXPECT_EQ(serial_number(Configuration().bytes()), "");
  EXPECT_EQ(serial_number(Configuration().capability(0x100, 1, 0).bytes()), "");
}

TEST(SerialNumber, WhatOnlyRootMayReadIsShortAndGivesNone) {
  const Configuration space = Configuration().capability(0x100, 3, 0).serial(0x100, 1, 1);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{64}, std::size_t{256}, std::size_t{0x100 + 11}}) {
    EXPECT_EQ(serial_number(std::string_view(space.bytes()).substr(0, size)), "") << size;
  }
}

TEST(SerialNumber, AListInACircleEnds) {
  const Configuration space =
      Configuration().capability(0x100, 1, 0x140).capability(0x140, 1, 0x100);
  EXPECT_EQ(serial_number(space.bytes()), "");
}

TEST(SerialNumber, AListThatLeadsOutOfTheSpaceEnds) {
  const Configuration space = Configuration().capability(0x100, 1, 0xffc);
  EXPECT_EQ(serial_number(space.bytes()), "");
}

TEST(KnownGuid, OfZerosIsNone) {
  EXPECT_EQ(known_guid("0000:0000:0000:0000"), "");
  EXPECT_EQ(known_guid("0x0000000000000000"), "");
  EXPECT_EQ(known_guid(""), "");
  EXPECT_EQ(known_guid("b859:9f03:00c7:1a10"), "b859:9f03:00c7:1a10");
  EXPECT_EQ(known_guid("0000:0000:0000:0001"), "0000:0000:0000:0001");
}

struct Slot {
  const char* speed;
  const char* width;
  const char* text;
};
class Slots : public testing::TestWithParam<Slot> {};
TEST_P(Slots, AreGenerationAndLanes) {
  const TemporaryTree files;
  files.write("device/current_link_speed", GetParam().speed);
  files.write("device/current_link_width", GetParam().width);
  EXPECT_EQ(pcie_of(Tree(files.root()), "device"), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(
    Speeds, Slots,
    testing::Values(Slot{"2.5 GT/s PCIe\n", "1\n", "gen1x1"},
                    Slot{"5.0 GT/s PCIe\n", "4\n", "gen2x4"}, Slot{"5 GT/s\n", "4\n", "gen2x4"},
                    Slot{"8.0 GT/s PCIe\n", "8\n", "gen3x8"},
                    Slot{"16.0 GT/s PCIe\n", "16\n", "gen4x16"},
                    Slot{"32.0 GT/s PCIe\n", "16\n", "gen5x16"},
                    Slot{"64.0 GT/s PCIe\n", "32\n", "gen6x32"}, Slot{"Unknown\n", "16\n", ""},
                    Slot{"16.0 GT/s PCIe\n", "0\n", ""}, Slot{"16.0 GT/s PCIe\n", "33\n", ""},
                    Slot{"16.0 GT/s PCIe\n", "x\n", ""}, Slot{"", "16\n", ""}));

TEST(PcieOf, AVirtualFunctionHasItsAdapters) {
  const TemporaryTree files;
  files.write("pf/current_link_speed", "16.0 GT/s PCIe\n");
  files.write("pf/current_link_width", "8\n");
  files.write("vf/vendor", "0x15b3\n");
  files.link("vf/physfn", "../pf");
  EXPECT_EQ(pcie_of(Tree(files.root()), "vf"), "gen4x8");
}

TEST(Functions, AreKnownByTheirFiles) {
  const TemporaryTree files;
  files.write("pf/sriov_totalvfs", "8\n");
  files.write("plain/vendor", "0x15b3\n");
  files.write("vf/vendor", "0x15b3\n");
  files.link("vf/physfn", "../pf");
  files.write("sf/sfnum", "88\n");
  files.write("bus/auxiliary/x", "");
  files.link("sf/subsystem", "../bus/auxiliary");
  files.write("aux/vendor", "");
  files.link("aux/subsystem", "../bus/auxiliary");
  const Tree tree(files.root());
  EXPECT_EQ(function_of(tree, "pf"), "physical");
  EXPECT_EQ(function_of(tree, "vf"), "virtual");
  EXPECT_EQ(function_of(tree, "sf"), "scalable");
  EXPECT_EQ(function_of(tree, "aux"), "") << "another auxiliary device";
  EXPECT_EQ(function_of(tree, "plain"), "");
  EXPECT_EQ(function_of(tree, "nowhere"), "");
}

TEST(AdapterOf, AVirtualFunctionNamesItsAdapterAndHasItsSerial) {
  const TemporaryTree files;
  files.write("0000:3b:00.0/config",
              Configuration().capability(0x100, 3, 0).serial(0x100, 5, 0).bytes());
  files.write("vf/vendor", "0x15b3\n");
  files.link("vf/physfn", "../0000:3b:00.0");
  const Adapter adapter = adapter_of(Tree(files.root()), "vf", "../../devices/0000:3b:00.2");
  EXPECT_EQ(adapter.physical, "0000:3b:00.0");
  EXPECT_EQ(adapter.serial, "00-00-00-00-00-00-00-05");
  EXPECT_TRUE(adapter.known());
}

TEST(AdapterOf, AScalableFunctionNamesTheDeviceAboveIt) {
  const TemporaryTree files;
  files.write("sf/sfnum", "88\n");
  files.write("bus/auxiliary/x", "");
  files.link("sf/subsystem", "../bus/auxiliary");
  const Adapter adapter =
      adapter_of(Tree(files.root()), "sf",
                 "../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/mlx5_core.sf.4");
  EXPECT_EQ(adapter.physical, "0000:3b:00.1") << "the nearest";
}

TEST(AdapterOf, WhatSaysNothingIsUnknown) {
  const TemporaryTree files;
  files.write("device/vendor", "0x1af4\n");
  EXPECT_FALSE(adapter_of(Tree(files.root()), "device", "").known());
}

TEST(AdapterRecord, HasOnlyWhatIsKnown) {
  Adapter adapter;
  adapter.node_guid = "b859:9f03:00c7:1a10";
  adapter.physical = "0000:3b:00.0";
  JsonWriter json;
  write(json, adapter);
  const test::Json found = test::parse_json(json.take());
  EXPECT_EQ(found.keys, (std::vector<std::string>{"node_guid", "physical"}));
  EXPECT_EQ(found["physical"].text, "0000:3b:00.0");
}

TEST(AdapterRecord, EveryFieldMakesItKnown) {
  for (const auto field : {&Adapter::system_guid, &Adapter::node_guid, &Adapter::switch_id,
                           &Adapter::port_id, &Adapter::serial, &Adapter::physical}) {
    Adapter adapter;
    EXPECT_FALSE(adapter.known());
    adapter.*field = "x";
    EXPECT_TRUE(adapter.known());
  }
}

}  // namespace
}  // namespace wireproof::host
