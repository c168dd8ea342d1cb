#include "tap.hpp"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cstring>

namespace wireproof::wire {
namespace {

// Moves this thread into the network namespace of another process, and back.
class Visit {
 public:
  explicit Visit(pid_t pid) {
    if (pid == 0) return;
    home_ = Fd(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    const Fd there(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!home_.is_open() || !there.is_open()) fail_errno("open " + path);
    if (setns(there.get(), CLONE_NEWNET) != 0) fail_errno("enter " + path);
  }
  ~Visit() {
    if (home_.is_open()) setns(home_.get(), CLONE_NEWNET);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Fd home_;
};

}  // namespace

Fd open_tap(pid_t pid, const std::string& device) {
  const Visit visit(pid);
  Fd tap(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tap.is_open()) fail_errno("open /dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) fail_errno("make the TAP device " + device);
  return tap;
}

}  // namespace wireproof::wire
