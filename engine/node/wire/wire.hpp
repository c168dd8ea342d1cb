// The wire's loop: frames out of one TAP, through the switch, into another when they are due.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "config.hpp"
#include "node/system.hpp"
#include "status.hpp"
#include "switch.hpp"

namespace wireproof::wire {

class Wire {
 public:
  // `taps`: one for each port of the configuration in `config_path`.
  Wire(std::string config_path, const Config& config, std::vector<Fd> taps, Status& status);

  // Runs until a signal ends it; SIGHUP reads the configuration again.
  void run();

 private:
  bool attend_signals();
  void read_again();
  void take_from(std::size_t port);
  void hand_over(std::size_t port);
  void wait();
  void moderate();

  std::string config_path_;
  Nanoseconds late_;
  std::vector<Fd> taps_;
  Status& status_;
  Pool pool_;
  Switch switch_;
  Fd signals_;
  struct Readiness {
    bool readable = true;     // poll has reported it, or it has not been checked yet
    bool unfinished = false;  // the last check left frames behind
    bool gone = false;        // the device was deleted: it returns only errors
  };
  std::vector<Readiness> ready_;
  std::vector<pollfd> wanted_;
};

}  // namespace wireproof::wire
