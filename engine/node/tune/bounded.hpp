// Work that may hang in the kernel runs in a separate process, which is waited for only for a
// limited time.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace wireproof::tune {

// The result. `error` is an errno, 0 for success; `reason` is the same as text.
struct Reply {
  int error = 0;
  std::string text;
  std::string reason;
  pid_t left = 0;  // the child that was left behind

  bool ok() const { return error == 0; }
};

Reply failed(int error, const std::string& reason);

// Runs `work` in a child and returns its reply; ETIMEDOUT if there is none after `patience_ms`: the
// child is killed, and left behind if a hung driver holds it. The child keeps only `lock` of the
// caller's descriptors, so it keeps no connection open; a process that waits for that lock waits
// for the child.
Reply bounded(int patience_ms, int lock, const std::function<Reply()>& work);

// Closes every descriptor from this number on.
void close_from(int first);

// Redirects 0, 1 and 2 to /dev/null.
void detach_streams();

}  // namespace wireproof::tune
