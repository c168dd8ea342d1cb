// Operating system functions that every subcommand needs: owned descriptors, failures with their
// cause, the clock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.hpp"

namespace wireproof {

// Throws Failure "WHAT: strerror(errno)".
[[noreturn]] void fail_errno(const std::string& what);

// An owned file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release();
  void reset();

 private:
  int number_ = -1;
};

std::int64_t monotonic_ms();

// The content of a (small) file; empty if it cannot be read.
std::string read_file(const std::string& path);

// Writes `text` with one write(2), as files of /proc require. Throws Failure.
void write_file(const std::string& path, std::string_view text);

// Blocks the signals and returns a descriptor that reports them.
Fd signal_descriptor(const std::vector<int>& signals);

// The next pending signal of `descriptor`; `from_terminal` if the kernel sent it for a key.
struct Caught {
  int number = 0;
  bool from_terminal = false;
};
Caught next_signal(const Fd& descriptor);

// A descriptor that becomes readable when the process has ended; closed if the kernel does not
// support it (before 5.3).
Fd process_descriptor(pid_t pid);

// 0..255, as a shell reports a wait status: the exit code, or 128 + the signal.
int shell_status(int wait_status);

// Undoes what the program has changed (blocked signals, SIGPIPE), then executes `arguments`.
// Returns only if that failed, with the status of env(1): 127 not found, 126 found but cannot run.
int become(const std::vector<std::string>& arguments, const std::vector<std::string>* environment);

// A decimal number of the command line. Throws Failure that names the option.
std::int64_t parse_number(std::string_view option, std::string_view text);

}  // namespace wireproof
