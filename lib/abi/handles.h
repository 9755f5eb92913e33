// The engines of this process by their handles. A handle is a random number, so that one that was made up or has been
// destroyed is not taken for a living engine.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <memory>
#include <shared_mutex>
#include <utility>

#include "abi/result.h"
#include "engine/engine.h"
#include "tent/transfer_engine.h"

namespace tent::abi {

struct EngineEntry {
  explicit EngineEntry(std::unique_ptr<Engine> made) : engine(std::move(made)) {}
  std::shared_mutex calls;  // held shared by each call
  std::unique_ptr<Engine> engine;
};

// One call on an engine, which stays alive until the call has ended.
class EngineCall {
 public:
  explicit EngineCall(tent_engine_t handle);
  explicit operator bool() const { return engine_ != nullptr; }
  Engine* operator->() const { return engine_; }
  Engine& operator*() const { return *engine_; }

 private:
  std::shared_ptr<EngineEntry> entry_;
  std::shared_lock<std::shared_mutex> lock_;
  Engine* engine_ = nullptr;
};

tent_engine_t addEngine(std::unique_ptr<Engine> engine);
// Waits for the calls that other threads are in, then destroys it. False when there is no such engine.
bool destroyEngine(tent_engine_t handle);

// null_engine.
Error noSuchEngine(tent_engine_t handle);

// As call and legacyCall, for a body that takes the engine of the handle.
template <typename Body>
int32_t callOn(tent_engine_t handle, Body&& body) noexcept {
  return call([&] {
    const EngineCall on(handle);
    return on ? failureOf(body(*on)) : failureOf(noSuchEngine(handle));
  });
}

template <typename Body>
int legacyCallOn(tent_engine_t handle, Body&& body) noexcept {
  return callOn(handle, std::forward<Body>(body)) == TENT_OK ? 0 : -1;
}

}  // namespace tent::abi
