// PCI devices as facts: the few registers of bridges, network adapters and accelerators that
// determine how data moves between them.
#pragma once

#include <string_view>

#include "base/tree.hpp"
#include "facts/collect.hpp"

namespace wireproof::facts {

/// The path that requests them.
inline constexpr std::string_view kPci = "pci";

/// A JSON list of objects: `address`, `class` (six hexadecimal digits), `driver`, `numa`, for a
/// bridge `secondary` (its lower bus). From the PCI Express capability (PCIe base specification
/// 7.5.3): `type` of device or port, `payload` and `payload_most`, `read_request` (bytes),
/// `relaxed`, `width` and `width_most` (lanes), `speed` and `speed_most` (generation). From the
/// extended capability for access control (7.7.8): `acs`, its control bits. Fields that a register
/// does not have are left out; `closed` says that the kernel showed only the header: the rest needs
/// root.
Fact read_pci(const Tree& tree);

}  // namespace wireproof::facts
