#include "python/engine_handle.h"

#include <atomic>
#include <stdexcept>

#include <pthread.h>

namespace tent::python {
namespace {

namespace py = pybind11;

std::atomic<uint64_t> forks{0};

// How many forks lie between the process that loaded this and the current one.
uint64_t generation() {
  static const bool kWatched = [] {
    return pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
  }();
  if (!kWatched) throw std::bad_alloc();
  return forks.load(std::memory_order_relaxed);
}

template <typename... Config>
TransferEngine* makeEngine(const Config&... config) {
  const py::gil_scoped_release released;
  return new TransferEngine(config...);
}

}  // namespace

EngineHandle::EngineHandle() : made_in_(generation()), engine_(makeEngine()) {}

EngineHandle::EngineHandle(const std::string& config) : made_in_(generation()), engine_(makeEngine(config)) {}

EngineHandle::~EngineHandle() {
  if (!belongsHere()) return;  // its threads are not here: what waits for them waits forever
  const py::gil_scoped_release released;
  delete engine_;
}

bool EngineHandle::belongsHere() const {
  return made_in_ == generation();
}

TransferEngine& EngineHandle::get() {
  if (!belongsHere()) {
    throw std::runtime_error("this engine was made before fork(): make another one in this process");
  }
  return *engine_;
}

void EngineHandle::close() {
  if (!belongsHere()) return;
  const py::gil_scoped_release released;
  engine_->close();
}

void EngineHandle::fail(const Status& status, const char* where) {
  const Status& creation = engine_->creationStatus();
  raise(status.reason() == TENT_REASON_NULL_ENGINE && !creation.ok() ? creation : status, where);
}

}  // namespace tent::python
