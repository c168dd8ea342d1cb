#include "node/tune/interrupt.hpp"

#include <signal.h>

namespace wireproof::tune {
namespace {

volatile sig_atomic_t noted = 0;

void note(int) { noted = 1; }

}  // namespace

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return noted != 0; }

}  // namespace wireproof::tune
