// A group whose waits the watchdog can see: a rank inside one of these calls waits for the others.
#pragma once

#include "record/watchdog.hpp"
#include "transport/concept.hpp"

namespace wireproof {

class WatchedGroup final : public Group {
 public:
  explicit WatchedGroup(Group& group) : group_(group) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void broadcast(std::string& text) override {
    const Waiting waiting;
    group_.broadcast(text);
  }
  std::vector<std::string> gather(std::string_view text) override {
    const Waiting waiting;
    return group_.gather(text);
  }
  void barrier() override {
    const Waiting waiting;
    group_.barrier();
  }

 private:
  struct Waiting {
    Waiting() { watchdog::wait_for_others(); }
    ~Waiting() { watchdog::busy(); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
  };
  Group& group_;
};

}  // namespace wireproof
