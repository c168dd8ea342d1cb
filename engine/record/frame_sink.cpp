#include "record/frame_sink.hpp"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.hpp"

namespace wireproof {
namespace {

volatile sig_atomic_t g_mid_line = 0;  // read by signal handlers

}  // namespace

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool FrameSink::mid_line() noexcept { return g_mid_line != 0; }

void FrameSink::write(std::string frame) {
  frame += '\n';
  g_mid_line = 1;
  const bool good = write_all(descriptor_, frame);
  const int error = errno;
  g_mid_line = 0;
  if (!good) {
    throw cannot_measure("output", std::string("cannot write a frame to standard output: ") +
                                       strerror(error) + "; what was written before stays valid");
  }
}

}  // namespace wireproof
