// Buffers for frames in flight: allocated once and reused.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace wireproof::wire {

// A frame in a buffer of the pool.
struct Frame {
  std::byte* bytes = nullptr;
  std::size_t length = 0;
};

class Pool {
 public:
  // Buffers of `room` bytes, at most `most` of them.
  Pool(std::size_t room, std::size_t most) : room_(room), most_(most) {}

  std::size_t room() const { return room_; }
  bool has_room();
  // Null if all are in use.
  std::byte* take();
  void give_back(std::byte* buffer) { free_.push_back(buffer); }

 private:
  void grow();

  std::size_t room_;
  std::size_t most_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::vector<std::byte*> free_;
};

}  // namespace wireproof::wire
