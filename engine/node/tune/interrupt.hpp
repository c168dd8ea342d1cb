// Signals of a person or a scheduler: what is under way is finished or taken back, never torn.
#pragma once

namespace wireproof::tune {

// SIGINT and SIGTERM are noted; SIGHUP and SIGPIPE are ignored: a connection that has gone ends
// nothing.
void note_interrupts();
bool interrupted();

}  // namespace wireproof::tune
