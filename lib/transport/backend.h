// The one contract of everything that moves bytes between processes: shm, tcp, rdma, and the fake that tests use. The
// engine knows backends only through it; tests/conformance runs it over each of them.
//
// A backend has two roles. As a target it lets peers reach the regions that were registered with it. As an initiator it
// opens links to peers and runs transfers over them. How two ends find each other is carried by the engine, as text
// that only the backends understand:
//
//     initiator                         target
//     offer()          -- offer -->     answer(offer)
//     connect(answer)  <-- answer --
//
// Invariants
//  1. Every transfer that a link took is reported exactly once, whatever happens to the link, the peer or the backend.
//  2. A transfer is reported as done only when all its bytes are at their destination: for a write, in the target's
//     memory, where the target's threads see them.
//  3. When a transfer has been reported, the link no longer reads or writes its local memory. What a failed one may
//     have done to its destination is said by its Aftermath.
//  4. What the target refuses (a range outside its regions, an access that a region does not allow) ends that transfer
//     with out_of_range or permission_denied and kUntouched, and no other.
//  5. Nothing here blocks on a peer, except waitReady, which has a time limit. A peer that has gone or stands still is
//     noticed within the backend's limits, and ends the link.
//
// Thread safety: all members of a Backend and of a Link may be called from any thread, except where said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/error.h"

namespace tent {

class SharedMemory;

// What peers may do with a region.
enum class Access : uint8_t { kNone, kRead, kReadWrite };

// Memory of this process that a backend serves. The memory outlives the registration.
struct Region {
  uint64_t id = 0;  // the engine's; unique for its lifetime
  std::byte* base = nullptr;
  uint64_t length = 0;  // bytes, at least 1
  Access access = Access::kNone;
  const SharedMemory* shared = nullptr;  // the allocation that holds exactly this region; nullptr: the application's
  // What this process itself may do with memory of its application, when it was registered. It need not be mapped then,
  // and may be unmapped at any time: peers are refused it while it is so.
  Access own_access = Access::kReadWrite;
};

// A region of a peer, as the peer described it. Initiators may check against it; the target does not rely on that.
struct RemoteRegion {
  uint64_t id = 0;
  uint64_t base = 0;  // in the peer's address space
  uint64_t length = 0;
  Access access = Access::kNone;
  bool shared = false;  // allocated by the peer's engine
  std::string key;      // what registerRegion of the peer's backend of the same name gave
};

enum class Direction : uint8_t { kRead, kWrite };  // kRead: from the peer's memory into this process's

struct Transfer {
  Direction direction = Direction::kRead;
  std::byte* local = nullptr;
  uint64_t length = 0;                   // bytes, at least 1
  uint64_t remote_address = 0;           // in the peer's address space
  const RemoteRegion* region = nullptr;  // the one that holds the range; lives until the transfer is reported
  uint64_t token = 0;                    // the caller's, comes back in the completion
  // Whether `local` is known to be mapped, for what the transfer does with it, and to stay so until it was reported.
  // Where it is not known, a range that is not mapped, or not for this, is an io_error.
  bool local_mapped = true;
};

// What a failed attempt has done, and may yet do, to the destination.
enum class Aftermath : uint8_t {
  kUntouched,  // nothing was written, and nothing will be
  kSettled,    // some of it may have been written; nothing more will be
  kUnsettled,  // some of it may have been written, and more may come later: not to be tried again by another way
};
std::string_view nameOf(Aftermath aftermath);  // "untouched", "settled", "unsettled"

struct Completion {
  uint64_t token = 0;
  Reason reason = Reason::kNone;  // kNone: done
  Aftermath aftermath = Aftermath::kUntouched;
  std::string detail;  // of a failure, for people
};

// Told about a link by its backend, from any thread and also from within Link::submit, never with a lock of the backend
// held. Shared with the backend, which lets go of it after closed(); a transfer that is submitted after that is still
// reported, within submit, to an observer that is still there.
class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  virtual void completed(Completion completion) noexcept = 0;
  // The link has ended, for this reason; all its transfers have been reported. Once.
  virtual void closed(const Error& why) noexcept = 0;
};

// The initiator's end of a connection to one peer. Closed when destroyed.
class Link {
 public:
  virtual ~Link() = default;

  // Takes transfers in this order; they need not end in it. Copies what it keeps. Before the link is ready they wait.
  virtual void submit(std::span<const Transfer> transfers) = 0;

  // Takes back a transfer of which nothing was sent yet: it is reported as canceled, kUntouched, before this returns
  // true. Otherwise false, and it goes on to its own end.
  virtual bool cancel(uint64_t token) = 0;

  // Whether the link has ended; true before the first transfer is reported for that reason.
  virtual bool ended() const { return false; }

  // Does work that is ready for this thread, such as copying; false when there is none. For threads that wait anyway.
  virtual bool progress() { return false; }

  // Waits until the link is ready or has failed, at most `timeout_ns`. The error's reason is kNone, or says why.
  virtual Error waitReady(uint64_t timeout_ns) = 0;

  // Whether transfers to this region can be carried, as far as this end knows once the link is ready: kNone, or the
  // reason why each would fail (permission_denied, io_error, the end of the link) with what to do about it. Cheap, for
  // planning; what the target refuses is still refused by it.
  virtual Error reaches(const RemoteRegion& /*region*/) const { return {}; }

  // Ends the link and all its transfers, with `why`. What was sent may still reach the peer.
  virtual void close(const Error& why) = 0;
};

struct Capabilities {
  std::string name;                  // "shm", "tcp": as the plan names it
  bool one_machine = false;          // only between processes of one machine
  uint32_t queue_transfers = 256;    // more than these, or ...
  uint64_t queue_bytes = 64u << 20;  // ... more bytes than these on a link at once make nothing faster
};

// Bytes that this backend's links have moved as initiator, and that its peers have moved here where a target can know.
struct Traffic {
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  uint64_t served_read_bytes = 0;     // peers read from here
  uint64_t served_written_bytes = 0;  // peers wrote to here
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const Capabilities& capabilities() const = 0;
  virtual Traffic traffic() const = 0;

  // ---- target

  // Lets peers reach `region`, as far as its access allows. The result is what initiators must know of it ("" nothing).
  // registration_failed or resource_exhausted.
  virtual tl::expected<std::string, Error> registerRegion(const Region& region) = 0;

  // Returns when no peer's access is in progress and none can begin any more, within seconds even when a peer stands
  // still. Where the kernel gives peers their own way to the memory (shm), it cannot be taken back: see the backend.
  virtual void unregisterRegion(uint64_t id) = 0;

  // Answers a peer's offer. The answer lets one link in and is a secret between the two.
  virtual tl::expected<std::string, Error> answer(std::string_view offer) = 0;

  // ---- initiator

  virtual std::string offer() = 0;

  // Opens a link to the peer that gave `answer`, which is at `host` (the numeric address that the engine reached it
  // at). Returns at once; the link becomes ready, or fails with peer_unreachable, auth_failed or io_error. An answer
  // that makes no sense is an error here.
  virtual tl::expected<std::unique_ptr<Link>, Error> connect(std::string_view answer, const std::string& host,
                                                             std::shared_ptr<LinkObserver> observer) = 0;

  // Ends all links and all that peers do here. Called once, before the destructor, while the loop still runs.
  virtual void stop() = 0;
};

}  // namespace tent
