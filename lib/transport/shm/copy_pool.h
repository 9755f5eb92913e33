// The threads that copy what did not fit into a submit. They sleep while there is nothing to copy, and serve the links
// in turn, a piece at a time, so that one large transfer may be shared by all of them and hold up no other link.
//
// Thread safety: all members may be called from any thread; stop from one that is not of the pool.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tent::shm {

// Something with pieces to copy.
class CopyWork {
 public:
  virtual ~CopyWork() = default;
  // Copies a piece if there is one; when there are more, offers itself to the pool again before it copies.
  virtual void copyPiece() = 0;
};

class CopyPool {
 public:
  explicit CopyPool(uint32_t threads);
  ~CopyPool();
  CopyPool(const CopyPool&) = delete;
  CopyPool& operator=(const CopyPool&) = delete;

  // A thread will call work->copyPiece() once. Without effect once stopped.
  void offer(std::shared_ptr<CopyWork> work);

  // Returns when no thread works any more.
  void stop();

 private:
  void serve(uint32_t index);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<CopyWork>> offered_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tent::shm
