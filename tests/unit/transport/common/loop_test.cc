#include "transport/loop.h"

#include <csignal>
#include <cstring>

#include <pthread.h>

#include <doctest/doctest.h>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

namespace tent {
namespace {

TEST_CASE("work runs on the loop's thread, which has its name and takes no signals") {
  Loop loop("tent-test-loop");
  CHECK_FALSE(loop.inLoop());
  bool in_loop = false;
  char name[16] = {};
  sigset_t blocked;
  loop.run([&] {
    in_loop = loop.inLoop();
    pthread_getname_np(pthread_self(), name, sizeof(name));
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  });
  CHECK(in_loop);
  CHECK(std::strcmp(name, "tent-test-loop") == 0);
  CHECK(sigismember(&blocked, SIGINT) == 1);
  CHECK(sigismember(&blocked, SIGTERM) == 1);
}

TEST_CASE("work of the loop may run work") {
  Loop loop("tent-test-loop");
  int steps = 0;
  loop.run([&] { loop.run([&] { ++steps; }); });
  CHECK(steps == 1);
}

TEST_CASE("a loop that was stopped runs nothing more, and its context outlives its thread") {
  Loop loop("tent-test-loop");
  loop.stop();
  bool ran = false;
  {
    asio::steady_timer timer(loop.context());
    asio::post(loop.context(), [&] { ran = true; });
    timer.cancel();
  }
  loop.stop();
  CHECK_FALSE(ran);
}

}  // namespace
}  // namespace tent
