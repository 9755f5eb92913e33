// An initiator's end of one stream: puts transfers into frames, sends them from whichever thread gets there first, and
// takes the answers on the loop's thread.
//
// Transfers are either queued (they can be taken back) or in flight (in a frame). The sockets of a link end together,
// which is the link's business; a stream only says that its socket has failed.
//
// A write is done when it was answered and all its bytes are with the kernel. A small one may well be answered before
// the thread that sends it has come back from the call; and a peer that answers what it cannot have must not make this
// end give up memory that is still being sent.
//
// Thread safety: submit, cancel, load and moved may be called from any thread, the rest on the loop's thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/backend.h"
#include "transport/loop.h"
#include "transport/tcp/channel.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/frame_reader.h"
#include "transport/tcp/frame_writer.h"

namespace tent::tcp {

class ClientStream : private FrameReader::Handler {
 public:
  // What the link does for its streams. Called without the stream's lock.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void streamCompleted(std::vector<Completion>& completions) = 0;
    virtual void streamFailed(const Error& why) = 0;
    // Keeps the link, and so its streams, alive in handlers.
    virtual std::shared_ptr<void> keepAlive() = 0;
  };

  ClientStream(Owner& owner, Loop& loop, std::shared_ptr<Counters> counters);

  // False: it has been stopped, and took nothing.
  bool submit(std::span<const Transfer> transfers);
  bool cancel(uint64_t token);
  // A measure of what was taken and is not done.
  uint64_t load() const { return load_.load(std::memory_order_relaxed); }
  // Bytes that have moved, either way, for noticing that none do.
  uint64_t moved() const { return moved_.load(std::memory_order_relaxed); }

  // With a socket that is connected and welcomed: what is queued goes out, answers come in.
  void start(Stream stream);
  // Ends both directions: the kernel refuses to send, and nothing more is received. Then no thread touches a transfer's
  // memory any more, and all transfers are given back as they failed with `why`.
  void stop(const Error& why, std::vector<Completion>& completions);

 private:
  struct Flight {
    Transfer transfer;
    uint32_t generation = 0;
    bool used = false;
    bool answered = false;
    Reason answer = Reason::kNone;
    // In the stream of all that is sent: where this transfer can begin to have an effect, and where its last byte ends.
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes, std::vector<InPiece>& pieces) override;
  void endPieces(size_t count) override;
  bool mayContinue() override { return true; }

  void send();
  bool nothingQueuedLocked() const { return queued_at_ == queued_.size(); }
  static uint32_t regionOf(const Transfer& transfer);
  void fillFramesLocked();
  uint64_t startFlightLocked(const Transfer& transfer);
  bool isAnswerLocked(const ResponseEntry& response);
  // All its bytes have gone, so that nothing reads its memory any more.
  bool isSentLocked(const Flight& flight) const { return flight.end <= sent_; }
  void finishLocked(uint32_t slot);
  void finishDeferred();
  void report();
  Flight* flightOfLocked(uint64_t id);
  void waitWritable();
  void receive();
  void waitReadable();

  Owner& owner_;
  Loop& loop_;
  Stream stream_;
  std::optional<Channel> channel_;  // of the stream, for the threads that send
  const std::shared_ptr<Counters> counters_;
  std::atomic<uint64_t> load_{0};
  std::atomic<uint64_t> moved_{0};

  std::mutex mutex_;
  std::condition_variable send_ended_;
  bool started_ = false;
  bool stopped_ = false;
  bool sending_ = false;          // a thread is in send and owns writer_
  bool blocked_ = false;          // the socket takes nothing until it is writable
  std::vector<Transfer> queued_;  // from queued_at_ on; emptied at once, so that its memory is used again
  size_t queued_at_ = 0;
  std::vector<Flight> flights_;
  std::vector<uint32_t> free_flights_;
  std::vector<uint32_t> deferred_;  // answered writes of which not all is known to have gone
  std::vector<RequestEntry> entries_;
  FrameWriter writer_;
  uint64_t framed_ = 0;  // bytes that were put into frames, ever
  uint64_t sent_ = 0;    // of those, that are with the kernel; not known while sending_

  // The loop's thread.
  FrameReader reader_;
  std::vector<uint32_t> incoming_;  // the reads whose bytes are coming in; those from incoming_at_ on are not there yet
  size_t incoming_at_ = 0;
  std::vector<Completion> completions_;
  bool reporting_ = false;
};

}  // namespace tent::tcp
