#include "facts/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/program.hpp"

namespace wireproof::facts {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](auto prefix) { return text.starts_with(prefix); });
}

}  // namespace

std::vector<std::string> command_environment(const char* const* environment) {
  std::vector<std::string> result = {"LC_ALL=C"};
  std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (starts_with_any(entry,
                        {"LD_", "LC_", "LANG", "PMI", "OMPI_", "PRTE_", "HYDI_", "I_MPI_HYDRA"}))
      continue;
    if (entry.starts_with("PATH=")) {
      path = std::string(entry) + ":/usr/sbin:/sbin";
    } else {
      result.emplace_back(entry);
    }
  }
  result.push_back(path);
  return result;
}

Fact run_command(const FactRequest& request) {
  Fact fact;
  fact.kind = FactRequest::Kind::command;
  fact.argv = request.argv;
  if (request.argv.empty() || request.argv[0].empty()) {
    fact.reason = "empty argv";
    return fact;
  }
  Ended end = run_program(
      {request.argv, command_environment(environ), request.limit_bytes, request.timeout_ms});
  if (end.start_error != 0) {
    fact.status = end.start_error == ENOENT   ? Status::missing
                  : end.start_error == EACCES ? Status::denied
                                              : Status::failed;
    fact.reason = std::strerror(end.start_error);
    return fact;
  }
  fact.text = std::move(end.text);
  fact.truncated = end.truncated;
  fact.reason = std::move(end.errors);
  fact.exit_status = end.exit_status;
  fact.status = !end.in_time ? Status::timeout : end.exit_status == 0 ? Status::ok : Status::failed;
  return fact;
}

}  // namespace wireproof::facts
