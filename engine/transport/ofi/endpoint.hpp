// One reliable datagram endpoint of this process with what belongs to it: fabric, domain, address
// vector and completion queue. Untimed; the timed calls are link.hpp's.
#pragma once

#include <memory>
#include <string>

#include "transport/library_facts.hpp"
#include "transport/ofi/library.hpp"

namespace wireproof::ofi {

/// What a completion leads back to. The library's part comes first: its address is the context.
struct Operation {
  abi::Context context;
  std::uint32_t* under_way;  // one less when it is done
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

/// Registered memory; empty where the provider wants none.
using Registration = Handle<abi::Memory>;

/// The provider whose sockets are the kernel's: an address of the claimed NIC chooses the NIC.
bool goes_by_address(std::string_view provider);

class Endpoint {
 public:
  /// Opens what `wishes` and `nic` ("" = any; else a domain's or NIC's name, where the provider
  /// does not go by address) choose. Throws Failure: no such provider, no such NIC, or the call of
  /// libfabric that failed.
  Endpoint(const Library& library, const Wishes& wishes, const std::string& nic);

  abi::Endpoint* raw() const { return endpoint_.get(); }
  abi::Queue* queue() const { return queue_.get(); }
  const abi::Info& info() const { return *info_; }
  const Library& library() const { return *library_; }
  /// Which provider, domain, NIC and fabric these are.
  FabricFacts facts() const;

  /// As a peer of the same provider takes it: bytes.
  std::string address() const;
  /// Throws Failure when it is no address of this provider.
  abi::Address know(const std::string& address);
  /// Makes `bytes` at `at` usable for `access`. Throws Failure.
  Registration enroll(const void* at, std::size_t bytes, std::uint64_t access);
  bool wants(int registration) const { return (info_->domain->registration & registration) != 0; }
  /// Lets the provider answer its peers while nobody of this process talks. Untimed.
  void progress() const;
  /// How completions are taken: the provider's own call, or, where more ranks than cores must get
  /// on (`yields`), one that gives the core away when there were none.
  using Take = decltype(abi::QueueCalls::read);
  Take completions() const;
  void set_yields(bool yields) { yields_ = yields; }
  /// Operations of one direction that can be under way.
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
