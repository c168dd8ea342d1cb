#include "transport/mpi/mpi_library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/failure.hpp"

namespace wireproof::mpi {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The whole text of MPI_Get_library_version.
std::string whole_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), std::min(static_cast<std::size_t>(std::max(length, 0)), text.size() - 1)};
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\0' || line.back() == ' ')) line.pop_back();
  return line;
}

}  // namespace

std::string library_version() { return first_line(whole_version()); }

std::string library_path() {
  Dl_info found{};
  void* const symbol =
      dlsym(RTLD_DEFAULT, "MPI_Send");  // not &MPI_Send: that may be our own PLT entry
  if (symbol == nullptr || dladdr(symbol, &found) == 0 || found.dli_fname == nullptr) return "";
  return found.dli_fname;
}

void check_library(const std::string& expected) {
  const std::string version = whole_version();
  if (lower(version).find(lower(expected)) != std::string::npos) return;
  throw cannot_measure("library-mismatch", "asked for an MPI named \"" + expected + "\" and \"" +
                                               first_line(version) + "\" answered (" +
                                               library_path() + ")");
}

}  // namespace wireproof::mpi
