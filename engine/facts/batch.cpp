#include "facts/batch.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace wireproof::facts {
namespace {

using Clock = std::chrono::steady_clock;

class Batch {
 public:
  Batch(const std::vector<FactRequest>& requests, const std::string& root,
        std::chrono::milliseconds patience)
      : requests_(requests),
        root_(root),
        deadline_(Clock::now() + patience),
        found_(requests.size()) {
    for (std::size_t at = 0; at < requests.size(); ++at)
      (requests[at].kind == FactRequest::Kind::command ? commands_ : files_).push_back(at);
  }

  std::vector<std::vector<Fact>> run() {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::min(kMostCommands, commands_.size()); ++i)
      workers.emplace_back([this] { take_commands(); });
    for (const std::size_t at : files_) answer(at);
    for (std::thread& worker : workers) worker.join();
    return std::move(found_);
  }

 private:
  void take_commands() {
    for (std::size_t turn = next_++; turn < commands_.size(); turn = next_++)
      answer(commands_[turn]);
  }

  void answer(std::size_t at) {
    FactRequest request = requests_[at];
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) {
      found_[at] = {not_asked(request)};
      return;
    }
    request.timeout_ms = static_cast<int>(std::min<long long>(request.timeout_ms, left));
    found_[at] = collect(request, root_);
  }

  static Fact not_asked(const FactRequest& request) {
    Fact fact;
    fact.kind = request.kind;
    fact.path = request.path;
    fact.argv = request.argv;
    fact.status = Status::timeout;
    fact.reason = "was not asked for: what came before took too long";
    return fact;
  }

  const std::vector<FactRequest>& requests_;
  const std::string& root_;
  const Clock::time_point deadline_;
  std::vector<std::size_t> commands_;
  std::vector<std::size_t> files_;
  std::atomic<std::size_t> next_{0};
  std::vector<std::vector<Fact>> found_;
};

}  // namespace

std::vector<std::vector<Fact>> collect_all(const std::vector<FactRequest>& requests,
                                           const std::string& root,
                                           std::chrono::milliseconds patience) {
  return Batch(requests, root, patience).run();
}

}  // namespace wireproof::facts
