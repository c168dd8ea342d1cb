#include "transport/ofi/providers.hpp"

#include <cstdio>
#include <set>
#include <string_view>

#include "base/failure.hpp"
#include "base/json_writer.hpp"
#include "transport/ofi/library.hpp"

namespace wireproof::ofi {
namespace {

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }

std::string_view name_of(abi::EndpointType type) {
  switch (type) {
    case abi::EndpointType::message:
      return "msg";
    case abi::EndpointType::datagram:
      return "dgram";
    case abi::EndpointType::reliable_datagram:
      return "rdm";
  }
  return "other";
}

void write_capabilities(JsonWriter& json, std::uint64_t capabilities) {
  constexpr std::pair<std::uint64_t, std::string_view> kNames[] = {
      {abi::kMessages, "msg"},
      {abi::kTagged, "tagged"},
      {abi::kRemoteAccess, "rma"},
      {abi::kAtomics, "atomic"},
  };
  json.key("capabilities").begin_array();
  for (const auto& [bit, name] : kNames) {
    if ((capabilities & bit) != 0) json.value(name);
  }
  json.end_array();
}

void write_nic(JsonWriter& json, const abi::Nic* nic) {
  const bool named = nic != nullptr && nic->device != nullptr;
  json.field("nic", named ? text_of(nic->device->name) : "")
      .field("driver", named ? text_of(nic->device->driver) : "");
  if (nic != nullptr && nic->link != nullptr) json.field("bits_per_s", nic->link->bits_per_s);
}

/// A line of the list; the same provider offers one domain once for each kind of address.
std::string offer(const abi::Info& info) {
  JsonWriter json;
  json.begin_object()
      .field("provider", text_of(info.fabric->provider))
      .field("provider_version", version_text(info.fabric->provider_version))
      .field("domain", text_of(info.domain->name))
      .field("fabric", text_of(info.fabric->name))
      .field("endpoint", name_of(info.endpoint->type));
  write_capabilities(json, info.capabilities);
  write_nic(json, info.nic);
  return json.end_object().take();
}

void write_offers(JsonWriter& json, const Library& library) {
  std::set<std::string> seen;
  const Offers all = library.everything();
  json.key("offers").begin_array();
  for (const abi::Info* info = all.first(); info != nullptr; info = info->next) {
    const std::string line = offer(*info);
    if (seen.insert(line).second) json.raw(line);
  }
  json.end_array();
}

void write_registered(JsonWriter& json, const Library& library) {
  const Offers all = library.registered();
  json.key("registered").begin_array();
  for (const abi::Info* info = all.first(); info != nullptr; info = info->next) {
    json.begin_object()
        .field("provider", text_of(info->fabric->provider))
        .field("provider_version", version_text(info->fabric->provider_version))
        .end_object();
  }
  json.end_array();
}

}  // namespace

std::string provider_list(const std::string& path) {
  const Library library(path);
  JsonWriter json;
  json.begin_object().field("version", library.version()).field("path", library.path());
  write_offers(json, library);
  write_registered(json, library);
  return json.end_object().take();
}

int providers_main(int argc, char** argv) try {
  const bool named = argc == 3 && std::string_view(argv[1]) == "--libfabric";
  if (argc > 1 && !named) {
    throw bad_plan("usage: wireproof-engine providers [--libfabric PATH]");
  }
  std::puts(provider_list(named ? argv[2] : "").c_str());
  return static_cast<int>(ExitStatus::ok);
} catch (const Failure& failure) {
  std::fprintf(stderr, "wireproof-engine: %s\n", failure.what());
  return static_cast<int>(failure.status());
}

}  // namespace wireproof::ofi
