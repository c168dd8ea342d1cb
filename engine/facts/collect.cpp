#include "facts/collect.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/bounded_file.hpp"
#include "facts/command.hpp"

namespace wireproof::facts {
namespace {

using Clock = std::chrono::steady_clock;

// What the reading thread and its waiting owner share. The thread may outlive the wait on a hung
// file system, so it owns a share of this and touches nothing else.
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

Fact read_file(const std::string& path, std::size_t limit) {
  FileText file = read_bounded(path, limit);
  Fact fact;
  fact.path = path;
  fact.status = status_of(file.status);
  fact.text = std::move(file.text);
  fact.reason = std::move(file.reason);
  fact.truncated = file.truncated;
  return fact;
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::vector<std::string> matches(const std::string& pattern, Fact& listing) {
  glob_t found{};
  const int outcome = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv,
                                 found.gl_pathv + (outcome == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  listing.status = outcome == 0              ? Status::ok
                   : outcome == GLOB_NOMATCH ? Status::missing
                                             : Status::failed;
  if (outcome != 0)
    listing.reason = outcome == GLOB_NOMATCH ? "nothing matches" : "cannot be listed";
  listing.truncated = paths.size() > kMaxMatches;
  if (listing.truncated) paths.resize(kMaxMatches);
  return paths;
}

void read_glob(const FactRequest& request, Mailbox& mailbox) {
  Fact listing;
  listing.kind = FactRequest::Kind::glob;
  listing.path = request.path;
  const auto paths = matches(request.path, listing);
  for (const std::string& path : paths) listing.text += path + "\n";
  if (!mailbox.post(std::move(listing))) return;
  for (const std::string& path : paths) {
    if (!is_directory(path) && !mailbox.post(read_file(path, request.limit_bytes))) return;
  }
}

std::vector<Fact> read_with_deadline(const FactRequest& request) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(request.timeout_ms);
  const auto mailbox = std::make_shared<Mailbox>();
  std::thread([request, mailbox] {
    if (request.kind == FactRequest::Kind::glob) {
      read_glob(request, *mailbox);
    } else {
      mailbox->post(read_file(request.path, request.limit_bytes));
    }
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

std::vector<Fact> collect(const FactRequest& request) {
  if (request.kind == FactRequest::Kind::command) return {run_command(request)};
  return read_with_deadline(request);
}

}  // namespace wireproof::facts
