// A reliable datagram endpoint of this process with its fabric, domain, address vector and
// completion queue. Untimed; link.hpp contains the timed calls.
#pragma once

#include <memory>
#include <string>

#include "transport/library_facts.hpp"
#include "transport/ofi/library.hpp"

namespace wireproof::ofi {

/// The object that a completion refers to. The library's part comes first, because its address
/// is the context.
struct Operation {
  abi::Context context;
  std::uint32_t* under_way;  // decremented when it is done
};

struct Close {
  void operator()(void* object) const {
    auto* const it = static_cast<abi::Object*>(object);
    it->calls->close(it);
  }
};
/// Everything that libfabric opens begins with an Object.
template <class T>
using Handle = std::unique_ptr<T, Close>;

/// Registered memory; empty if the provider needs none.
using Registration = Handle<abi::Memory>;

/// A provider that uses the kernel's sockets: an address of the claimed NIC selects the NIC.
bool goes_by_address(std::string_view provider);

class Endpoint {
 public:
  /// Opens the endpoint that `wishes` and `nic` select ("" = any; else the name of a domain or NIC,
  /// if the provider does not select by address). Throws Failure: no such provider, no such NIC, or
  /// the libfabric call that failed.
  Endpoint(const Library& library, const Wishes& wishes, const std::string& nic);

  abi::Endpoint* raw() const { return endpoint_.get(); }
  abi::Queue* queue() const { return queue_.get(); }
  const abi::Info& info() const { return *info_; }
  const Library& library() const { return *library_; }
  /// The provider, domain, NIC and fabric in use.
  FabricFacts facts() const;

  /// The address in bytes that a peer of the same provider accepts.
  std::string address() const;
  /// Throws Failure if it is not an address of this provider.
  abi::Address know(const std::string& address);
  /// Makes `bytes` bytes at `at` usable for `access`. Throws Failure.
  Registration enroll(const void* at, std::size_t bytes, std::uint64_t access);
  bool wants(int registration) const { return (info_->domain->registration & registration) != 0; }
  /// Lets the provider answer its peers while this process does not communicate. Untimed.
  void progress() const;
  /// The function that reads completions: the provider's or, if more ranks than cores must make
  /// progress (`yields`), a function that yields the core if there were none.
  using Take = decltype(abi::QueueCalls::read);
  Take completions() const;
  void set_yields(bool yields) { yields_ = yields; }
  /// Operations of one direction that can be in progress.
  std::size_t depth() const;

 private:
  void check(ssize_t result, const char* what) const;
  void open();

  const Library* library_;
  Offers offers_;
  abi::Info* info_;  // one of offers_
  Handle<abi::Fabric> fabric_;
  Handle<abi::Domain> domain_;
  Handle<abi::Vector> vector_;
  Handle<abi::Queue> queue_;
  Handle<abi::Endpoint> endpoint_;
  std::uint64_t next_key_ = 1;
  bool yields_ = false;
};

}  // namespace wireproof::ofi
