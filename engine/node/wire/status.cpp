#include "status.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "node/system.hpp"

namespace wireproof::wire {

Status::Status(const std::string& path, std::size_t ports)
    : size_(sizeof(StatusHeader) + ports * sizeof(PortCounters)) {
  const Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open() || ftruncate(file.get(), static_cast<off_t>(size_)) != 0) {
    fail_errno("make " + path);
  }
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) fail_errno("map " + path);
  header_ = static_cast<StatusHeader*>(memory);
  counters_ = reinterpret_cast<PortCounters*>(header_ + 1);
  std::memcpy(header_->magic, "WPWIRE1\n", sizeof header_->magic);
  header_->ports = ports;
}

Status::~Status() { munmap(header_, size_); }

void Status::copy(Switch& from) {
  for (std::size_t i = 0; i < from.size(); ++i) counters_[i] = from.counters(i);
}

}  // namespace wireproof::wire
