// The target's side of the fake backend: a thread that accepts connections, and one for each of them.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <tl/expected.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "base/random.h"
#include "transport/fake/fake_wire.h"
#include "transport/regions.h"
#include "transport/tickets.h"

namespace tent::fake {

class Target {
 public:
  static tl::expected<std::unique_ptr<Target>, Error> open(uint64_t stall_timeout_ns);  // io_error
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  void add(const Region& region) { regions_.add(region); }
  void remove(uint64_t id);
  std::string answer();
  void stop();

  uint64_t servedReadBytes() const { return served_read_bytes_; }
  uint64_t servedWrittenBytes() const { return served_written_bytes_; }

 private:
  static constexpr uint64_t kTicketLifeNs = 30'000'000'000;
  struct Peer {
    Fd socket;
    std::thread thread;
    bool ended = false;
  };

  explicit Target(uint64_t stall_timeout_ns) : stall_timeout_ns_(stall_timeout_ns) {}
  void accept();
  void serve(Peer& peer);
  bool welcome(int socket);
  // One request; false at the end of the connection.
  bool serveOne(int socket);

  const uint64_t stall_timeout_ns_;
  const uint64_t name_ = randomValue<uint64_t>();
  Fd listener_;
  RegionTable regions_;
  TicketBook tickets_{kTicketLifeNs};
  std::mutex moving_;
  std::atomic<uint64_t> served_read_bytes_{0};
  std::atomic<uint64_t> served_written_bytes_{0};

  std::mutex mutex_;
  bool stopped_ = false;
  std::list<Peer> peers_;
  std::thread accepter_;
};

}  // namespace tent::fake
