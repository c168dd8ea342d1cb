// Signals from a person or a scheduler: work in progress is finished or reverted, never left half
// done.
#pragma once

namespace wireproof::tune {

// SIGINT and SIGTERM are recorded; SIGHUP and SIGPIPE are ignored, because a lost connection ends
// nothing.
void note_interrupts();
bool interrupted();

}  // namespace wireproof::tune
