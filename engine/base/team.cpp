#include "base/team.hpp"

#include <sched.h>

#include <string>
#include <system_error>

#include "base/failure.hpp"

namespace wireproof {
namespace {

constexpr int kSpins = 2000;  // some microseconds; after that others may use the core

template <class Condition>
void spin_until(Condition condition) {
  for (int i = 0; !condition(); ++i) {
    if (i > kSpins) sched_yield();
  }
}

}  // namespace

Team::Team(int size) : size_(size) {
  try {
    for (int member = 1; member < size; ++member) {
      members_.emplace_back([this, member] { serve(member); });
    }
  } catch (const std::system_error& error) {
    dismiss();
    throw cannot_measure("no-threads", "the system gives no " + std::to_string(size) +
                                           " threads (" + error.what() +
                                           "); lower threads= or raise the limit of processes");
  }
}

Team::~Team() { dismiss(); }

void Team::dismiss() {
  over_ = true;
  jobs_.fetch_add(1);
  jobs_.notify_all();
  for (std::thread& member : members_) member.join();
  members_.clear();
}

void Team::serve(int member) {
  for (std::uint32_t done = 0;;) {
    jobs_.wait(done);
    done = jobs_.load();
    if (over_) return;
    take_part(member);
  }
}

void Team::take_part(int member) {
  awake_.fetch_add(1);
  spin_until([this] { return awake_.load() == size_; });
  (*work_)(member);
  busy_.fetch_sub(1);
}

void Team::run(const std::function<void(int)>& work) {
  work_ = &work;
  awake_.store(0);
  busy_.store(size_);
  jobs_.fetch_add(1);
  jobs_.notify_all();
  take_part(0);
  spin_until([this] { return busy_.load() == 0; });
}

}  // namespace wireproof
