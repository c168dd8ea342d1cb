// The numbers of libfabric's interface that the engine uses: see abi.hpp.
#pragma once

#include <cstdint>

namespace wireproof::ofi::abi {

constexpr std::uint32_t version(unsigned major, unsigned minor) { return major << 16 | minor; }

// Capabilities, completion levels and other flags.
inline constexpr std::uint64_t kMessages = 1ULL << 1;
inline constexpr std::uint64_t kRemoteAccess = 1ULL << 2;
inline constexpr std::uint64_t kTagged = 1ULL << 3;
inline constexpr std::uint64_t kAtomics = 1ULL << 4;
inline constexpr std::uint64_t kRead = 1ULL << 8;
inline constexpr std::uint64_t kWrite = 1ULL << 9;
inline constexpr std::uint64_t kReceive = 1ULL << 10;
inline constexpr std::uint64_t kTransmit = 1ULL << 11;
inline constexpr std::uint64_t kRemoteRead = 1ULL << 12;
inline constexpr std::uint64_t kRemoteWrite = 1ULL << 13;
inline constexpr std::uint64_t kCompletion = 1ULL << 24;
inline constexpr std::uint64_t kInjectComplete = 1ULL << 26;
inline constexpr std::uint64_t kTransmitComplete = 1ULL << 27;
inline constexpr std::uint64_t kDeliveryComplete = 1ULL << 28;
inline constexpr std::uint64_t kNamesOnly = 1ULL << 54;  ///< every provider, usable or not
inline constexpr std::uint64_t kSource = 1ULL << 57;
inline constexpr std::uint64_t kDirectedReceive = 1ULL << 59;

// Modes: the caller's promises to the provider.
inline constexpr std::uint64_t kNeedsContext = 1ULL << 59;
inline constexpr std::uint64_t kNeedsContext2 = 1ULL << 52;

// Memory registration: the provider's requirements.
inline constexpr int kLocalKey = 1 << 2;
inline constexpr int kVirtualAddress = 1 << 4;
inline constexpr int kAllocated = 1 << 5;
inline constexpr int kProviderKey = 1 << 6;
inline constexpr int kBoundToEndpoint = 1 << 9;

inline constexpr std::uint64_t kSendAfterSend = 1ULL << 8;   ///< messages match in order
inline constexpr std::uint64_t kReadAfterWrite = 1ULL << 1;  ///< a read sees earlier writes
inline constexpr std::uint64_t kNoAddress = ~0ULL;

enum class EndpointType : int { message = 1, datagram = 2, reliable_datagram = 3 };
enum class Threading : int { unspecified = 0, domain = 3 };
enum class Progress : int { unspecified = 0, automatic = 1, manual = 2 };
enum class Management : int { unspecified = 0, disabled = 1, enabled = 2 };
enum class VectorType : int { unspecified = 0, map = 1, table = 2 };
enum class EntryFormat : int { unspecified = 0, context = 1 };
enum class WaitObject : int { none = 0 };
enum class Number : int { int64 = 6, uint64 = 7 };
enum class Operation : int { sum = 2, compare_swap = 12 };
inline constexpr int kEnable = 6;  ///< command of Operations::control

// Errors are negative results. These numbers differ from errno.
inline constexpr int kNoData = 61;
inline constexpr int kNoSystemCall = 38;
inline constexpr int kAgain = 11;
inline constexpr int kErrorAvailable = 259;

}  // namespace wireproof::ofi::abi
