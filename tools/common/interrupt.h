// Signals. SIGINT and SIGTERM are a wish to stop: the tools finish what they are writing, report what was done, and
// end.
#pragma once

namespace tent::tool {

// Installs the handlers, and ignores SIGPIPE so that a closed pipe is seen as an error of the write. A second signal
// ends the process at once, for when a stalled reader of the output keeps the first from taking effect. Also fills
// standard descriptors that are closed, so that no other file takes their numbers: using them then fails. Once a
// process, first of all.
void catchInterrupts();

bool interrupted();

// A descriptor that becomes readable when the process is interrupted, for waits. Owned here.
int interruptFd();

// SIGHUP as a wish to read the configuration again. Until this is called it ends the process, as usual.
void catchHangups();

// A descriptor that is readable while such a wish was not taken. Owned here; -1 before catchHangups().
int hangupFd();

// Whether there was such a wish, however often it was said.
bool takeHangup();

}  // namespace tent::tool
