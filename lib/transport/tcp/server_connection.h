// A target's end of one stream: takes request frames, moves their bytes from or to the registered memory, and answers.
//
// All of it runs on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/regions.h"
#include "transport/tcp/channel.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/frame_reader.h"
#include "transport/tcp/frame_writer.h"

namespace tent::tcp {

class ServerConnection : public std::enable_shared_from_this<ServerConnection>, private FrameReader::Handler {
 public:
  // `ended` is called once, when the connection has closed by itself.
  ServerConnection(Stream stream, RegionTable& regions, std::shared_ptr<Counters> counters,
                   std::function<void(const std::shared_ptr<ServerConnection>&)> ended);

  void start() { onReadable(); }
  void close();
  // Whether it is in the middle of moving bytes of the region.
  bool uses(uint64_t region) const;

 private:
  // A write whose bytes are coming in.
  struct Incoming {
    uint64_t id;
    uint64_t length;
    Reason reason;
    std::optional<RegionTable::Use> use;  // unless refused
  };

  bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes, std::vector<InPiece>& pieces) override;
  void endPieces(size_t count) override;
  bool mayContinue() override;

  void takeWrite(const RequestEntry& request, std::vector<InPiece>& pieces);
  void takeRead(const RequestEntry& request);
  void addAnswer(const ResponseEntry& entry);
  void sealAnswer();

  void onReadable();
  void waitReadable();
  void onWritable();
  void answer();
  void end();

  Stream stream_;
  RegionTable& regions_;
  const std::shared_ptr<Counters> counters_;
  std::function<void(const std::shared_ptr<ServerConnection>&)> ended_;
  FrameReader reader_;
  FrameWriter writer_;
  std::vector<Incoming> incoming_;  // of the frame that is being read; those from incoming_at_ on are not there yet
  size_t incoming_at_ = 0;
  std::unique_ptr<OutFrame> answer_;  // that is being put together, with these entries
  std::vector<ResponseEntry> answer_entries_;
  bool paused_ = false;
  bool waiting_writable_ = false;
};

}  // namespace tent::tcp
