// The event loop of the backends: one thread that waits for sockets and timers, so that handlers run one at a time and
// nothing spins when idle.
//
// Thread safety: post and run may be called from any thread; the destructor, once, from another than the loop's.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

namespace tent {

class Loop {
 public:
  // `name`: of the thread, at most 15 bytes.
  explicit Loop(const std::string& name);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  asio::io_context& context() { return context_; }
  bool inLoop() const { return std::this_thread::get_id() == thread_.get_id(); }

  // Ends the thread; what was not run by then never is. Not from the loop's thread. The context can still be used by
  // what was made with it, until that is destroyed, which must be before the loop is.
  void stop();

  // Runs `work` on the loop's thread and waits for it; not after stop(); from that thread itself at once.
  void run(const std::function<void()>& work);

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  std::thread thread_;
};

}  // namespace tent
