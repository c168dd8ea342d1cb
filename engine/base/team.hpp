// A few threads that repeatedly do the same work together. They sleep between two jobs and start
// each job together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace wireproof {

class Team {
 public:
  /// The caller is member 0; `size - 1` threads are started. Throws Failure if the system provides
  /// no more threads.
  explicit Team(int size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Every member calls `work(member)` once all are awake; returns when all calls have ended.
  /// `work` must not throw.
  void run(const std::function<void(int)>& work);

 private:
  void serve(int member);
  void dismiss();
  void take_part(int member);

  int size_;
  const std::function<void(int)>* work_ = nullptr;
  bool over_ = false;
  std::atomic<std::uint32_t> jobs_{0};  // given so far
  std::atomic<int> awake_{0};           // members that have started this job
  std::atomic<int> busy_{0};            // members that have not finished it
  std::vector<std::thread> members_;
};

}  // namespace wireproof
