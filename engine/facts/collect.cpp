#include "facts/collect.hpp"

#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/bounded_file.hpp"
#include "base/tree.hpp"
#include "facts/command.hpp"
#include "facts/interfaces.hpp"
#include "facts/pci.hpp"

namespace wireproof::facts {
namespace {

using Clock = std::chrono::steady_clock;

// State shared by the reading thread and the thread that waits for it. The reading thread may
// outlive the wait on a hung file system, so it shares ownership of this and uses nothing else.
struct Mailbox {
  std::mutex lock;
  std::condition_variable arrived;
  std::vector<Fact> facts;
  bool finished = false;
  bool abandoned = false;

  bool post(Fact fact) {
    const std::lock_guard guard(lock);
    if (!abandoned) facts.push_back(std::move(fact));
    return !abandoned;
  }
};

Status status_of(ReadStatus status) {
  switch (status) {
    case ReadStatus::ok:
      return Status::ok;
    case ReadStatus::missing:
      return Status::missing;
    case ReadStatus::denied:
      return Status::denied;
    case ReadStatus::failed:
      break;
  }
  return Status::failed;
}

std::string below(const std::string& path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

FileText read_text(const Tree& tree, const std::string& path, std::size_t limit) {
  return tree.live() ? read_bounded(path, limit) : tree.read(below(path), limit);
}

Fact read_file(const Tree& tree, const std::string& path, std::size_t limit) {
  FileText file = read_text(tree, path, limit);
  Fact fact;
  fact.path = path;
  fact.status = status_of(file.status);
  fact.text = std::move(file.text);
  fact.reason = std::move(file.reason);
  fact.truncated = file.truncated;
  return fact;
}

bool is_directory(const Tree& tree, const std::string& path) {
  struct stat info {};
  if (!tree.live()) return tree.is_folder(below(path));
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// One step down: the entries that `part` of a pattern matches in the folder `base`.
void step_down(const Tree& tree, const std::string& base, const std::string& part,
               std::vector<std::string>& found) {
  if (part.find_first_of("*?[") == std::string::npos) {
    if (tree.exists(below(base + "/" + part))) found.push_back(base + "/" + part);
    return;
  }
  for (const std::string& name : tree.list(below(base))) {
    if (found.size() > kMaxMatches) return;
    if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) found.push_back(base + "/" + name);
  }
}

std::vector<std::string> matches_below(const Tree& tree, const std::string& pattern) {
  std::vector<std::string> paths = {""};
  std::string rest = below(pattern);
  while (!rest.empty() && !paths.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, slash);
    rest = below(rest.substr(slash));
    std::vector<std::string> found;
    for (const std::string& base : paths) step_down(tree, base, part, found);
    paths = std::move(found);
  }
  return paths;
}

std::vector<std::string> matches_here(const std::string& pattern, int& outcome) {
  glob_t found{};
  outcome = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv,
                                 found.gl_pathv + (outcome == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  return paths;
}

std::vector<std::string> matches(const Tree& tree, const std::string& pattern, Fact& listing) {
  int outcome = 0;
  std::vector<std::string> paths =
      tree.live() ? matches_here(pattern, outcome) : matches_below(tree, pattern);
  if (paths.empty() && outcome == 0) outcome = GLOB_NOMATCH;
  listing.status = outcome == 0              ? Status::ok
                   : outcome == GLOB_NOMATCH ? Status::missing
                                             : Status::failed;
  if (outcome != 0)
    listing.reason = outcome == GLOB_NOMATCH ? "nothing matches" : "cannot be listed";
  listing.truncated = paths.size() > kMaxMatches;
  if (listing.truncated) paths.resize(kMaxMatches);
  return paths;
}

void read_glob(const Tree& tree, const FactRequest& request, Mailbox& mailbox) {
  Fact listing;
  listing.kind = FactRequest::Kind::glob;
  listing.path = request.path;
  const auto paths = matches(tree, request.path, listing);
  for (const std::string& path : paths) listing.text += path + "\n";
  if (!mailbox.post(std::move(listing))) return;
  for (const std::string& path : paths) {
    if (!is_directory(tree, path) && !mailbox.post(read_file(tree, path, request.limit_bytes)))
      return;
  }
}

Fact not_run(const FactRequest& request) {
  Fact fact;
  fact.kind = FactRequest::Kind::command;
  fact.status = Status::missing;
  fact.argv = request.argv;
  fact.reason = "no command is run for a root folder: it would tell of this machine";
  return fact;
}

void read_into(Mailbox& mailbox, const FactRequest& request, const Tree& tree) {
  if (request.path == kInterfaces) {
    mailbox.post(read_interfaces(tree));
  } else if (request.path == kPci) {
    mailbox.post(read_pci(tree));
  } else if (shows_others(tree, request)) {
    for (Fact& fact : from_kernel(request)) mailbox.post(std::move(fact));
  } else if (request.kind == FactRequest::Kind::glob) {
    read_glob(tree, request, mailbox);
  } else {
    mailbox.post(read_file(tree, request.path, request.limit_bytes));
  }
}

std::vector<Fact> read_with_deadline(const FactRequest& request, const std::string& root) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(request.timeout_ms);
  const auto mailbox = std::make_shared<Mailbox>();
  std::thread([request, root, mailbox] {
    read_into(*mailbox, request, Tree(root));
    const std::lock_guard guard(mailbox->lock);
    mailbox->finished = true;
    mailbox->arrived.notify_all();
  }).detach();
  std::unique_lock guard(mailbox->lock);
  if (mailbox->arrived.wait_until(guard, deadline, [&] { return mailbox->finished; })) {
    return std::move(mailbox->facts);
  }
  mailbox->abandoned = true;
  Fact late;
  late.kind = request.kind;
  late.path = request.path;
  late.status = Status::timeout;
  late.reason = "no answer within " + std::to_string(request.timeout_ms) + " ms";
  std::vector<Fact> facts = std::move(mailbox->facts);
  facts.push_back(std::move(late));
  return facts;
}

}  // namespace

std::vector<Fact> collect(const FactRequest& request, const std::string& root) {
  if (request.kind != FactRequest::Kind::command) return read_with_deadline(request, root);
  const bool here = root.empty() || root == "/";
  return {here ? run_command(request) : not_run(request)};
}

}  // namespace wireproof::facts
