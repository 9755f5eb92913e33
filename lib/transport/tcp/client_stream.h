// An initiator's end of one stream: puts transfers into frames, sends them from whichever thread gets there first, and
// takes the answers on the loop's thread.
//
// Transfers are either queued (nothing of them was sent: they can be taken back) or in flight (in a frame). The sockets
// of a link end together, which is the link's business; a stream only says that its socket has failed.
//
// Thread safety: submit, cancel and moved may be called from any thread, the rest on the loop's thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <asio/ip/tcp.hpp>

#include "transport/backend.h"
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
    virtual void streamFailed(Reason reason, std::string detail) = 0;
    // Keeps the link, and so its streams, alive in handlers.
    virtual std::shared_ptr<void> keepAlive() = 0;
  };

  ClientStream(Owner& owner, asio::ip::tcp::socket socket, std::shared_ptr<Counters> counters);

  asio::ip::tcp::socket& socket() { return socket_; }

  // False: it has been stopped, and took nothing.
  bool submit(std::span<const Transfer> transfers);
  bool cancel(uint64_t token);
  // Bytes that have moved, either way, for noticing that none do.
  uint64_t moved() const { return moved_.load(std::memory_order_relaxed); }

  // The socket is connected and welcomed: what is queued goes out, answers come in.
  void start();
  // Ends both directions: the kernel refuses to send, and nothing more is received. Then no thread touches a transfer's
  // memory any more, and all transfers are given back as they failed with `why`.
  void stop(const Error& why, std::vector<Completion>& completions);

 private:
  struct Flight {
    Transfer transfer;
    bool used = false;
    uint32_t generation = 0;
  };
  struct Answered {
    uint32_t slot;
    Reason reason;
  };

  bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes, std::vector<InPiece>& pieces) override;
  bool endFrame() override;
  bool mayContinue() override { return true; }

  void send();
  bool nothingQueuedLocked() const { return queued_at_ == queued_.size(); }
  void fillFramesLocked();
  uint64_t startFlightLocked(const Transfer& transfer);
  Flight* flightOfLocked(uint64_t id);
  void waitWritable();
  void receive();
  void waitReadable();

  Owner& owner_;
  asio::ip::tcp::socket socket_;
  int fd_ = -1;  // of the socket, for the threads that send
  const std::shared_ptr<Counters> counters_;
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
  std::vector<RequestEntry> entries_;
  FrameWriter writer_;

  // The loop's thread.
  FrameReader reader_;
  std::vector<Answered> answered_;  // by the frame that is being read
  std::vector<Completion> completions_;
};

}  // namespace tent::tcp
