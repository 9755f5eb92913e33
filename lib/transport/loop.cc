#include "transport/loop.h"

#include <csignal>
#include <future>

#include <pthread.h>

#include <asio/post.hpp>

namespace tent {

Loop::Loop(const std::string& name) {
  thread_ = std::thread([this, name] {
    // Signals are the application's; no thread of ours takes one. A closed socket is an error of the write.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), name.c_str());
    context_.run();
  });
}

Loop::~Loop() {
  stop();
}

void Loop::stop() {
  guard_.reset();
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

void Loop::run(const std::function<void()>& work) {
  if (inLoop()) return work();
  std::promise<void> done;
  asio::post(context_, [&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace tent
