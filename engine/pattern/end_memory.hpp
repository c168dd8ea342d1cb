// Memory for the messages of one end.
#pragma once

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

}  // namespace wireproof
