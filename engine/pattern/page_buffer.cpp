#include "pattern/page_buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/failure.hpp"

namespace wireproof {

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) munmap(data_, size_);
}

std::byte* PageBuffer::reserve(std::size_t bytes) {
  if (bytes <= size_ && data_ != nullptr) return data_;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t size = std::max(page, (bytes + page - 1) / page * page);
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw cannot_measure("no-memory", "cannot get " + std::to_string(size) +
                                          " bytes of memory for messages; lower the message size");
  }
  data_ = static_cast<std::byte*>(memory);
  size_ = size;
  return data_;
}

}  // namespace wireproof
