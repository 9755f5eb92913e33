// A target's end of one stream: takes request frames, moves their bytes from or to the registered memory, and answers.
//
// All of it runs on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <asio/ip/tcp.hpp>

#include "transport/regions.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/frame_reader.h"
#include "transport/tcp/frame_writer.h"

namespace tent::tcp {

class ServerConnection : public std::enable_shared_from_this<ServerConnection>, private FrameReader::Handler {
 public:
  // `ended` is called once, when the connection has closed by itself.
  ServerConnection(asio::ip::tcp::socket socket, RegionTable& regions, std::shared_ptr<Counters> counters,
                   std::function<void(const std::shared_ptr<ServerConnection>&)> ended);

  void start() { onReadable(); }
  void close();
  // Whether it is in the middle of moving bytes of the region.
  bool uses(uint64_t region) const;

 private:
  struct Pending {
    RequestEntry request;
    Reason reason = Reason::kNone;
  };

  bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes, std::vector<InPiece>& pieces) override;
  bool endFrame() override;
  bool mayContinue() override;

  void onReadable();
  void waitReadable();
  void onWritable();
  void answer();
  void end();

  asio::ip::tcp::socket socket_;
  RegionTable& regions_;
  const std::shared_ptr<Counters> counters_;
  std::function<void(const std::shared_ptr<ServerConnection>&)> ended_;
  FrameReader reader_;
  FrameWriter writer_;
  std::vector<Pending> frame_;          // of the frame that is being read
  std::vector<RegionTable::Use> uses_;  // of its writes
  std::unique_ptr<OutFrame> answer_;    // with the reads of it
  std::vector<ResponseEntry> answer_entries_;
  bool paused_ = false;
  bool waiting_writable_ = false;
};

}  // namespace tent::tcp
