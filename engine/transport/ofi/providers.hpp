// `providers`: the offers of a libfabric of this host, as one JSON object.
#pragma once

#include <string>

namespace wireproof::ofi {

/// `path` as in Library. Throws Failure.
std::string provider_list(const std::string& path);

/// `providers [--libfabric PATH]`. Returns the exit status; a failure is a sentence on standard
/// error.
int providers_main(int argc, char** argv);

}  // namespace wireproof::ofi
