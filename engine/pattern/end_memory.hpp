// Memory for the messages of one end.
#pragma once

#include <cstddef>
#include <span>

#include "pattern/page_buffer.hpp"

namespace wireproof {

/// Memory of one end, kept between points.
struct EndMemory {
  PageBuffer source;
  PageBuffer sink;

  void swap(EndMemory& other) noexcept {
    source.swap(other.source);
    sink.swap(other.sink);
  }
};

constexpr std::size_t kCacheLine = 64;

/// Tells a link that needs it (`use_memory`) the memory of its messages, during the lifetime of
/// this object.
template <class L>
class LentMemory {
 public:
  LentMemory(L& link, std::span<const std::byte> source, std::span<std::byte> sink) : link_(link) {
    tell(source, sink);
  }
  ~LentMemory() { tell({}, {}); }
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;

 private:
  void tell(std::span<const std::byte> source, std::span<std::byte> sink) {
    if constexpr (requires { link_.use_memory(source, sink); }) link_.use_memory(source, sink);
  }

  L& link_;
};

}  // namespace wireproof
