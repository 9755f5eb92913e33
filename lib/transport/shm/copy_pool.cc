#include "transport/shm/copy_pool.h"

#include <csignal>
#include <string>
#include <utility>

#include <pthread.h>

namespace tent::shm {

CopyPool::CopyPool(uint32_t threads) {
  threads_.reserve(threads);
  for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { serve(i); });
}

CopyPool::~CopyPool() {
  stop();
}

void CopyPool::offer(std::shared_ptr<CopyWork> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    offered_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void CopyPool::stop() {
  std::deque<std::shared_ptr<CopyWork>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(offered_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void CopyPool::serve(uint32_t index) {
  // Signals are the application's; no thread of ours takes one.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), ("tent-copy-" + std::to_string(index)).c_str());
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !offered_.empty(); });
    if (stopped_) return;
    std::shared_ptr<CopyWork> work = std::move(offered_.front());
    offered_.pop_front();
    lock.unlock();
    work->copyPiece();
    work.reset();
    lock.lock();
  }
}

}  // namespace tent::shm
