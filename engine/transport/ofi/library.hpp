// A libfabric of this machine, loaded while the program runs, and its offers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/ofi/abi.hpp"

namespace wireproof::ofi {

/// The supported releases: older releases lack guarantees of the 1.14 interface.
inline constexpr std::uint32_t kOldest = abi::version(1, 14);

/// "1.17" from libfabric's version number.
std::string version_text(std::uint32_t version);

/// A list of a provider's offers, freed with it.
class Offers {
 public:
  Offers(const abi::Functions& functions, abi::Info* first)
      : functions_(&functions), first_(first) {}
  ~Offers() {
    if (first_ != nullptr) functions_->free_info(first_);
  }
  Offers(Offers&& other) noexcept
      : functions_(other.functions_), first_(std::exchange(other.first_, nullptr)) {}
  Offers& operator=(Offers&&) = delete;
  Offers(const Offers&) = delete;
  Offers& operator=(const Offers&) = delete;

  abi::Info* first() const { return first_; }
  bool empty() const { return first_ == nullptr; }

 private:
  const abi::Functions* functions_;
  abi::Info* first_;
};

/// The request to a provider.
struct Wishes {
  std::string provider;  ///< "" = any
  std::uint64_t capabilities = 0;
  std::uint64_t completion = 0;  ///< completion level of sends, 0 = the provider's default
  std::uint64_t order = 0;       ///< of remote accesses, beyond the order of messages
  std::string address;           ///< numeric, of the claimed NIC; "" = any
};

class Library {
 public:
  /// `path`: the file, or "" for the library that the dynamic linker finds. Throws Failure if there
  /// is none, if it is not a libfabric, or if it is too old.
  explicit Library(const std::string& path);
  // It stays loaded, because providers leave threads and exit handlers behind.

  const abi::Functions& functions() const { return functions_; }
  std::string version() const { return version_text(functions_.version()); }
  const std::string& path() const { return path_; }
  /// Why a call of libfabric failed; `result` is its return value.
  std::string why(ssize_t result) const;

  /// Reliable datagram endpoints that match these wishes, the library's best first; empty if there
  /// is none.
  Offers offers(const Wishes& wishes) const;
  /// Return all that any provider offers, with any kind of endpoint, in the library's order of
  /// preference.
  Offers everything() const;
  /// Every provider that the library knows, usable or not.
  Offers registered() const;
  /// Names of the providers with reliable datagram endpoints, each once.
  std::vector<std::string> providers() const;

 private:
  Offers ask(const char* node, std::uint64_t flags, const abi::Info* hints) const;

  std::string path_;
  abi::Functions functions_;
};

/// Whether a provider called `found` is the requested one: "tcp" may be reported as "tcp;ofi_rxm",
/// whose second part adds features that the first lacks; "" accepts any.
bool is_provider(std::string_view found, std::string_view wanted);

}  // namespace wireproof::ofi
