#include "transport/ofi/library.hpp"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/failure.hpp"

namespace wireproof::ofi {
namespace {

constexpr int kAnyRegistration = ~3;  // all except the two modes from before 1.5
constexpr const char* kUsualName = "libfabric.so.1";
constexpr const char* kLayouts = "FABRIC_1.3";  // the symbols that use abi.hpp's structures

std::string last_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// A function in the interface version that abi.hpp declares; `lacking` gets the name of the first
/// function that is missing.
template <class F>
void find(void* handle, const char* name, const char* version, F& function, std::string& lacking) {
  function = reinterpret_cast<F>(dlvsym(handle, name, version));
  if (function == nullptr && lacking.empty()) lacking = std::string(name) + "@" + version;
}

std::string path_of(void* symbol) {
  Dl_info found{};
  if (dladdr(symbol, &found) == 0 || found.dli_fname == nullptr) return "";
  return found.dli_fname;
}

abi::Functions functions_of(void* handle, const std::string& name) {
  abi::Functions f;
  std::string lacking;
  find(handle, "fi_version", "FABRIC_1.0", f.version, lacking);
  find(handle, "fi_strerror", "FABRIC_1.0", f.describe_error, lacking);
  if (!lacking.empty()) {
    throw cannot_measure("ofi-library", name + " is no libfabric: it has no fi_version");
  }
  if (f.version() < kOldest) {
    throw cannot_measure("ofi-library", name + " is libfabric " + version_text(f.version()) +
                                            ": transport ofi needs " + version_text(kOldest) +
                                            " or newer");
  }
  find(handle, "fi_getinfo", kLayouts, f.get_info, lacking);
  find(handle, "fi_freeinfo", kLayouts, f.free_info, lacking);
  find(handle, "fi_dupinfo", kLayouts, f.duplicate_info, lacking);
  find(handle, "fi_fabric", "FABRIC_1.1", f.open_fabric, lacking);
  if (lacking.empty()) return f;
  throw cannot_measure("ofi-library", name + " is libfabric " + version_text(f.version()) +
                                          " without " + lacking + ": give another by --libfabric");
}

bool holds_providers(const std::string& folder) {
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return false;
  bool found = false;
  while (const dirent* const entry = readdir(open)) {
    found = found || std::string_view(entry->d_name).ends_with("-fi.so");
  }
  closedir(open);
  return found;
}

/// A relocated library does not find its providers: if they are beside it, or in the folders that
/// vendors use, and the user has not set their location, it is set here.
void show_providers(const std::string& library) {
  const std::size_t cut = library.rfind('/');
  if (cut == std::string::npos || std::getenv("FI_PROVIDER_PATH") != nullptr) return;
  const std::string folder = library.substr(0, cut);
  for (const std::string& place : {folder + "/prov", folder + "/libfabric", folder}) {
    if (!holds_providers(place)) continue;
    setenv("FI_PROVIDER_PATH", place.c_str(), 0);
    return;
  }
}

/// An MPI in this process may have its own libfabric, whose functions a second libfabric would
/// otherwise call instead of its own.
int own_symbols_first() {
  return dlopen(kUsualName, RTLD_NOW | RTLD_NOLOAD) == nullptr ? 0 : RTLD_DEEPBIND;
}

/// The library frees it with the hints.
char* owned(const std::string& text) { return text.empty() ? nullptr : ::strdup(text.c_str()); }

}  // namespace

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xFFFF);
}

bool is_provider(std::string_view found, std::string_view wanted) {
  if (wanted.empty() || found == wanted) return true;
  return found.starts_with(wanted) && found[wanted.size()] == ';';
}

Library::Library(const std::string& path) {
  const std::string name = path.empty() ? kUsualName : path;
  show_providers(path);
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | own_symbols_first());
  if (handle == nullptr) {
    throw cannot_measure("ofi-library", "no libfabric was loaded: " + last_error() +
                                            " (install libfabric, or give --libfabric PATH)");
  }
  functions_ = functions_of(handle, name);
  path_ = path_of(reinterpret_cast<void*>(functions_.version));
}

std::string Library::why(ssize_t result) const {
  return functions_.describe_error(static_cast<int>(result < 0 ? -result : result));
}

Offers Library::offers(const Wishes& wishes) const {
  abi::Info* const hints = functions_.duplicate_info(nullptr);
  if (hints == nullptr) throw cannot_measure("no-memory", "no memory for libfabric's hints");
  const Offers freed(functions_, hints);
  hints->capabilities = wishes.capabilities;
  hints->mode = abi::kNeedsContext | abi::kNeedsContext2;
  hints->endpoint->type = abi::EndpointType::reliable_datagram;
  hints->domain->threading = abi::Threading::domain;
  hints->domain->management = abi::Management::enabled;
  hints->domain->registration = abi::kLocalKey | abi::kVirtualAddress | abi::kAllocated |
                                abi::kProviderKey | abi::kBoundToEndpoint;
  hints->transmit->flags = wishes.completion;
  hints->transmit->message_order = abi::kSendAfterSend | wishes.order;
  hints->receive->message_order = abi::kSendAfterSend | wishes.order;
  hints->fabric->provider = owned(wishes.provider);
  const char* const node = wishes.address.empty() ? nullptr : wishes.address.c_str();
  return ask(node, node == nullptr ? 0 : abi::kSource, hints);
}

Offers Library::ask(const char* node, std::uint64_t flags, const abi::Info* hints) const {
  abi::Info* found = nullptr;
  const int result = functions_.get_info(kOldest, node, nullptr, flags, hints, &found);
  if (result != 0 && result != -abi::kNoData) {
    throw cannot_measure("ofi-provider", "libfabric answers fi_getinfo: " + why(result));
  }
  return {functions_, result == 0 ? found : nullptr};
}

Offers Library::everything() const {
  abi::Info* const hints = functions_.duplicate_info(nullptr);
  if (hints == nullptr) throw cannot_measure("no-memory", "no memory for libfabric's hints");
  const Offers freed(functions_, hints);
  hints->mode = ~std::uint64_t{0};
  hints->domain->registration = kAnyRegistration;
  return ask(nullptr, 0, hints);
}

Offers Library::registered() const { return ask(nullptr, abi::kNamesOnly, nullptr); }

std::vector<std::string> Library::providers() const {
  std::vector<std::string> names;
  Wishes any;
  any.capabilities = abi::kTagged;
  const Offers all = offers(any);
  for (const abi::Info* info = all.first(); info != nullptr; info = info->next) {
    const std::string name = info->fabric->provider;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace wireproof::ofi
