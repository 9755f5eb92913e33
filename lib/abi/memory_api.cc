// The C API: memory.
#include <span>

#include "abi/arguments.h"
#include "abi/handles.h"
#include "abi/result.h"

using namespace tent;
using namespace tent::abi;

namespace {

Error allocate(Engine& engine, void** addr, size_t size, const MemoryOptions& options) {
  if (addr == nullptr) return nullMemoryArgument("addr");
  auto memory = engine.allocateMemory(size, options);
  if (!memory) return std::move(memory.error());
  *addr = *memory;
  return {};
}

Error checkRanges(void* const* addrs, const size_t* sizes, size_t count) {
  if (Error error = checkCount(count, sizeof(void*))) return error;
  if (count > 0 && (addrs == nullptr || sizes == nullptr))
    return nullMemoryArgument(addrs == nullptr ? "addrs" : "sizes");
  return {};
}

// All or nothing.
Error registerAll(Engine& engine, void* const* addrs, const size_t* sizes, size_t count, const MemoryOptions& options) {
  if (Error error = checkRanges(addrs, sizes, count)) return error;
  for (size_t i = 0; i < count; ++i) {
    Error error = engine.registerMemory(addrs[i], sizes[i], options);
    if (!error) continue;
    error.index = static_cast<int64_t>(i);
    while (i-- > 0) static_cast<void>(engine.unregisterMemory(addrs[i], sizes[i]));
    return error;
  }
  return {};
}

}  // namespace

extern "C" {

int tent_allocate_memory(tent_engine_t engine, void** addr, size_t size, const char* location) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    const auto where = readLocation(location);
    return where ? allocate(on, addr, size, {*where}) : where.error();
  });
}

int tent_allocate_memory_ex(tent_engine_t engine, void** addr, size_t size, tent_memory_options_t* options) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    const auto read = readMemoryOptions(options, on);
    return read ? allocate(on, addr, size, *read) : read.error();
  });
}

int tent_free_memory(tent_engine_t engine, void* addr) {
  return legacyCallOn(engine, [&](Engine& on) { return on.freeMemory(addr); });
}

int tent_register_memory(tent_engine_t engine, void* addr, size_t size) {
  return legacyCallOn(engine, [&](Engine& on) { return on.registerMemory(addr, size); });
}

int tent_register_memory_with_perm(tent_engine_t engine, void* addr, size_t size, int permission) {
  return tent_register_memory_batch(engine, &addr, &size, 1, permission);
}

int tent_register_memory_ex(tent_engine_t engine, void* addr, size_t size, tent_memory_options_t* options) {
  return tent_register_memory_batch_ex(engine, &addr, &size, 1, options);
}

int tent_register_memory_batch(tent_engine_t engine, void** addrs, size_t* sizes, size_t count, int permission) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    const auto read = readPermission(permission);
    return read ? registerAll(on, addrs, sizes, count, {{}, *read}) : read.error();
  });
}

int tent_register_memory_batch_ex(tent_engine_t engine, void** addrs, size_t* sizes, size_t count,
                                  tent_memory_options_t* options) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    const auto read = readMemoryOptions(options, on);
    return read ? registerAll(on, addrs, sizes, count, *read) : read.error();
  });
}

int tent_unregister_memory(tent_engine_t engine, void* addr, size_t size) {
  return tent_unregister_memory_batch(engine, &addr, &size, 1);
}

int tent_unregister_memory_batch(tent_engine_t engine, void** addrs, size_t* sizes, size_t count) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (Error error = checkRanges(addrs, sizes, count)) return error;
    // Each is tried: what is registered is not kept because of another that is not.
    Error first;
    for (size_t i = 0; i < count; ++i) {
      Error error = on.unregisterMemory(addrs[i], sizes[i]);
      if (!error || first) continue;
      first = std::move(error);
      first.index = static_cast<int64_t>(i);
    }
    return first;
  });
}

}  // extern "C"
