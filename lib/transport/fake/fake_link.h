// The initiator's end of a fake link: a queue, and a thread that carries out one transfer after the other.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "transport/backend.h"
#include "transport/fake/fake_script.h"
#include "transport/fake/fake_wire.h"

namespace tent {

// What the links of a backend share. `threads` is how many of theirs run; stop waits for them.
struct FakeShared {
  uint64_t stall_timeout_ns = 0;
  std::shared_ptr<FakeScript> script;
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> written_bytes{0};

  std::mutex mutex;
  std::condition_variable changed;
  uint32_t threads = 0;
};

class FakeLink : public std::enable_shared_from_this<FakeLink> {
 public:
  FakeLink(std::shared_ptr<FakeShared> shared, const fake::Address& address, std::shared_ptr<LinkObserver> observer);

  void start();

  // As in Link.
  void submit(std::span<const Transfer> transfers);
  bool cancel(uint64_t token);
  bool ended() const { return ended_; }
  Error waitReady(uint64_t timeout_ns);
  void close(const Error& why);

 private:
  struct Job {
    Transfer transfer;
    FakeScript::Fate fate;
  };
  struct Result {
    Error error;
    Aftermath aftermath = Aftermath::kUntouched;
    bool ends_link = false;
  };

  void serve();
  Error connect();
  void carryOut(const Job& job);
  // Moves the first `bytes` of it.
  Result move(const Transfer& transfer, uint64_t bytes);
  Result exchange(const Transfer& transfer, uint64_t bytes);
  void end(const Error& why);
  void report(const Transfer& transfer, const Result& result);
  void reported(uint64_t count);

  const std::shared_ptr<FakeShared> shared_;
  const fake::Address address_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<LinkObserver> observer_;  // until the end was told
  std::weak_ptr<LinkObserver> late_;        // for what is submitted after that
  Fd socket_;                               // closed with the link, so that no number is ever used by mistake
  bool ready_ = false;
  bool end_told_ = false;
  Error why_;              // of the end
  uint64_t pending_ = 0;   // taken, and not yet reported
  bool moving_ = false;    // the thread touches local memory
  std::deque<Job> queue_;  // its front may be held
  std::atomic<bool> ended_{false};
  std::atomic<bool> front_canceled_{false};
};

}  // namespace tent
