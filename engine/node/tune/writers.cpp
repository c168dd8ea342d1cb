#include "node/tune/writers.hpp"

#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>

namespace wireproof::tune {

// During each write, the file is open with the shared lock of the process that began it; if a
// process gets the exclusive lock, there is no other writer. Children of this process share its
// lock, so they are checked individually.
bool Writers::hang() {
  std::erase_if(left_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
  const bool alone = flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  flock(file_.get(), LOCK_SH | LOCK_NB);
  return !left_.empty() || !alone;
}

void Writers::wait(int patience_ms) {
  const std::int64_t end = monotonic_ms() + patience_ms;
  while (hang() && monotonic_ms() < end) poll(nullptr, 0, 10);
}

}  // namespace wireproof::tune
