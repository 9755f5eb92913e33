#include "abi/handles.h"

#include <mutex>
#include <random>
#include <unordered_map>
#include <utility>

namespace tent::abi {
namespace {

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<tent_engine_t, std::shared_ptr<EngineEntry>> engines;
  std::random_device random;
};

Registry& registry() {
  // Never destroyed: an application may call in from its own destructors, after those of this library have run.
  static auto* const kRegistry = new Registry;
  return *kRegistry;
}

}  // namespace

EngineCall::EngineCall(tent_engine_t handle) {
  Registry& all = registry();
  {
    const std::shared_lock lock(all.mutex);
    const auto it = all.engines.find(handle);
    if (it == all.engines.end()) return;
    entry_ = it->second;
    // Taken while the handle is known, so that who destroys the engine waits for this call.
    lock_ = std::shared_lock(entry_->calls);
  }
  engine_ = entry_->engine.get();
}

tent_engine_t addEngine(std::unique_ptr<Engine> engine) {
  auto entry = std::make_shared<EngineEntry>(std::move(engine));
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  while (true) {
    const uintptr_t number = static_cast<uintptr_t>(static_cast<uint64_t>(all.random()) << 32 | all.random());
    const auto handle = reinterpret_cast<tent_engine_t>(number);  // NOLINT(performance-no-int-to-ptr): never followed
    if (handle != nullptr && all.engines.try_emplace(handle, entry).second) return handle;
  }
}

bool destroyEngine(tent_engine_t handle) {
  Registry& all = registry();
  std::shared_ptr<EngineEntry> entry;
  {
    const std::unique_lock lock(all.mutex);
    const auto it = all.engines.find(handle);
    if (it == all.engines.end()) return false;
    entry = std::move(it->second);
    all.engines.erase(it);
  }
  entry->engine->endTransfers();  // whoever waits for them is waited for next
  const std::unique_lock lock(entry->calls);
  entry->engine.reset();
  return true;
}

Error noSuchEngine(tent_engine_t handle) {
  if (handle == nullptr) return {Reason::kNullEngine, Field::kEngine, -1, {}, {}};
  return errorSaying(Reason::kNullEngine, Field::kEngine, {},
                     "there is no such engine: it was destroyed, or its handle is none that tent_create_engine gave");
}

}  // namespace tent::abi
