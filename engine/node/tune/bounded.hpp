// Work that may hang in the kernel, done by a process of its own and waited for only so long.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace wireproof::tune {

// What came back. `error` is an errno, 0 for success; `reason` says it for people.
struct Reply {
  int error = 0;
  std::string text;
  std::string reason;
  pid_t left = 0;  // the child that was left behind

  bool ok() const { return error == 0; }
};

Reply failed(int error, const std::string& reason);

// Runs `work` in a child and gives its reply; ETIMEDOUT when there is none after `patience_ms`:
// the child is killed, and left behind where a hung driver keeps it. The child has no descriptor of
// ours but `lock`, so it keeps no connection open; whoever waits for that lock waits for it.
Reply bounded(int patience_ms, int lock, const std::function<Reply()>& work);

// Closes every descriptor from this number on.
void close_from(int first);

// Makes /dev/null of 0, 1 and 2.
void detach_streams();

}  // namespace wireproof::tune
