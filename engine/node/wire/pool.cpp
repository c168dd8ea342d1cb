#include "pool.hpp"

#include <algorithm>

namespace wireproof::wire {
namespace {

constexpr std::size_t kSlab = 64;

}  // namespace

bool Pool::has_room() {
  if (free_.empty()) grow();
  return !free_.empty();
}

std::byte* Pool::take() {
  if (!has_room()) return nullptr;
  std::byte* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Pool::grow() {
  const std::size_t count = std::min(kSlab, most_ - made_);
  if (count == 0) return;
  slabs_.push_back(std::make_unique<std::byte[]>(count * room_));
  made_ += count;
  free_.reserve(made_);
  for (std::size_t i = 0; i < count; ++i) free_.push_back(slabs_.back().get() + i * room_);
}

}  // namespace wireproof::wire
