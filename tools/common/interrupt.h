// SIGINT and SIGTERM as a wish to stop: the tools finish what they are writing, report what was done, and end.
#pragma once

namespace tent {

// Installs the handlers, and ignores SIGPIPE so that a closed pipe is seen as an error of the write. Once a process.
void catchInterrupts();

bool interrupted();

// A descriptor that becomes readable when the process is interrupted, for waits. Owned here.
int interruptFd();

}  // namespace tent
