// The providers of the simulated libfabric: what each offers and demands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "transport/ofi/abi.hpp"

using namespace wireproof::ofi::abi;  // this is the other side of that interface

namespace {

/// `late`: a remote write takes effect when a later read of the same endpoint is executed, and not
/// before.
struct Variant {
  char name[16];
  std::uint64_t capabilities;
  std::uint64_t completions;  // levels that may be requested
  std::uint64_t orders;
  int registration;
  bool late;
  bool nameless;  // its endpoints have no address
};
constexpr std::uint64_t kEverything = kTagged | kMessages | kRemoteAccess | kAtomics;
constexpr int kUsual = kLocalKey | kProviderKey | kVirtualAddress;
constexpr int kRawKeys = 1 << 3;
Variant kVariants[] = {
    {"fake", kEverything, kTransmitComplete | kDeliveryComplete, 0, kUsual, false, false},
    {"late", kEverything, kTransmitComplete, kReadAfterWrite, kUsual, true, false},
    {"local", kEverything, kTransmitComplete, 0, kUsual, false, false},
    {"plain", kTagged | kRemoteAccess, kTransmitComplete, 0, kUsual, false, false},
    {"raw", kEverything, kTransmitComplete, 0, kUsual | kRawKeys, false, false},
    {"nameless", kEverything, kTransmitComplete, 0, kUsual, false, true},
};

const Variant& variant_of(const char* name) {
  return *std::find_if(std::begin(kVariants), std::end(kVariants),
                       [&](const Variant& one) { return std::strcmp(one.name, name) == 0; });
}

bool is_ours(const char* name) {
  return std::any_of(std::begin(kVariants), std::end(kVariants),
                     [&](const Variant& one) { return one.name == name; });
}

/// Whether a provider meets the hints.
bool meets(const Variant& variant, const Info& hints) {
  const char* const wanted = hints.fabric->provider;
  const auto within = [](std::uint64_t asked, std::uint64_t given) {
    return (asked & ~given) == 0;
  };
  return (wanted == nullptr || std::strcmp(wanted, variant.name) == 0) &&
         within(hints.capabilities, variant.capabilities) &&
         within(hints.transmit->flags, variant.completions) &&
         within(hints.transmit->message_order & ~kSendAfterSend, variant.orders) &&
         (variant.registration & ~hints.domain->registration) == 0;
}

}  // namespace
