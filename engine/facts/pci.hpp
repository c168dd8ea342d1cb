// PCI devices as facts: the few registers of bridges, network adapters and accelerators that decide
// what moves between them.
#pragma once

#include <string_view>

#include "base/tree.hpp"
#include "facts/collect.hpp"

namespace wireproof::facts {

/// The path that asks for them.
inline constexpr std::string_view kPci = "pci";

/// A JSON list of objects: `address`, `class` (six hexadecimal digits), `driver`, `numa`, of a
/// bridge `secondary` (its lower bus). From the PCI Express capability (PCIe base
/// specification 7.5.3): `type` of device or port, `payload` and `payload_most`, `read_request`
/// (bytes), `relaxed`, `width` and `width_most` (lanes), `speed` and `speed_most` (generation).
/// From the extended one for access control (7.7.8) `acs`, its control bits. What a register does
/// not have is left out; `closed` says that the kernel gave no more than the header: the rest needs
/// root.
Fact read_pci(const Tree& tree);

}  // namespace wireproof::facts
