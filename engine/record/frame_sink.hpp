// Standard output of rank 0: one JSON object per line, written at once, so that a killed run loses
// one line at most.
#pragma once

#include <string>
#include <string_view>

namespace wireproof {

class FrameSink {
 public:
  explicit FrameSink(int descriptor) : descriptor_(descriptor) {}

  /// Throws Failure if the reader is gone or the disk is full.
  void write(std::string frame);

  /// True while a line is being written; a signal handler then begins a new line first.
  static bool mid_line() noexcept;

 private:
  int descriptor_;
};

/// Writes everything or returns false. Async-signal-safe.
bool write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace wireproof
