// Page-aligned memory that grows and is kept, so that a sweep needs no new pages (and an MPI's
// registration cache sees no new addresses) at every size.
#pragma once

#include <cstddef>
#include <utility>

namespace wireproof {

class PageBuffer {
 public:
  PageBuffer() = default;
  ~PageBuffer();
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;

  /// At least `bytes` of memory, zeroed or previously used. Throws Failure if the system has none.
  std::byte* reserve(std::size_t bytes);

  void swap(PageBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace wireproof
