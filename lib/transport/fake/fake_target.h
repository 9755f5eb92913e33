// The target's side of the fake backend: a thread that accepts connections, and one for each of them.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <tl/expected.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "transport/fake/fake_wire.h"
#include "transport/regions.h"

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
  const uint64_t name_ = randomNumber();
  Fd listener_;
  RegionTable regions_;
  std::mutex moving_;
  std::atomic<uint64_t> served_read_bytes_{0};
  std::atomic<uint64_t> served_written_bytes_{0};

  std::mutex mutex_;
  bool stopped_ = false;
  std::set<uint64_t> tickets_;
  std::list<Peer> peers_;
  std::thread accepter_;
};

}  // namespace tent::fake
