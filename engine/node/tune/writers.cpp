#include "node/tune/writers.hpp"

#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>

namespace wireproof::tune {

// Each write has the file open with the shared lock of the process that began it: alone with it, a
// process gets the exclusive lock. Our own children share ours, and are asked one by one.
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
