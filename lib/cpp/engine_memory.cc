// The C++ API: memory.
#include <algorithm>
#include <cstring>

#include "cpp/results.h"
#include "tent/engine.h"

namespace tent {
inline namespace v1 {
namespace {

// The C API's options; of a location that does not fit, as much as fits, which no location is.
tent_memory_options_t optionsOf(const MemoryOptions& options) {
  tent_memory_options_t all{};
  const size_t bytes = std::min(options.location.size(), sizeof all.location);
  std::memcpy(all.location, options.location.data(), bytes);
  all.permission = options.perm;
  all.transport_type = options.type;
  return all;
}

Status checkLocation(const Location& location) {
  return hasNul(location) ? refusal(kBadRegistration, "the location holds a NUL byte") : Status();
}

}  // namespace

Status TransferEngine::allocateLocalMemory(void** addr, size_t size, const Location& location) {
  MemoryOptions options;
  options.location = location;
  return allocateLocalMemory(addr, size, options);
}

Status TransferEngine::allocateLocalMemory(void** addr, size_t size, const MemoryOptions& options) {
  if (Status status = checkLocation(options.location); !status.ok()) return status;
  tent_memory_options_t all = optionsOf(options);
  return statusOf(tent_allocate_memory_ex(handle_, addr, size, &all));
}

Status TransferEngine::freeLocalMemory(void* addr) {
  return statusOf(tent_free_memory(handle_, addr));
}

Status TransferEngine::registerLocalMemory(void* addr, size_t size, Permission permission) {
  return statusOf(tent_register_memory_with_perm(handle_, addr, size, permission));
}

Status TransferEngine::registerLocalMemory(void* addr, size_t size, const MemoryOptions& options) {
  return registerLocalMemory(std::vector<void*>{addr}, std::vector<size_t>{size}, options);
}

Status TransferEngine::registerLocalMemory(const std::vector<void*>& addrs, const std::vector<size_t>& sizes,
                                           Permission permission) {
  MemoryOptions options;
  options.perm = permission;
  return registerLocalMemory(addrs, sizes, options);
}

Status TransferEngine::registerLocalMemory(const std::vector<void*>& addrs, const std::vector<size_t>& sizes,
                                           const MemoryOptions& options) {
  if (addrs.size() != sizes.size()) return refusal(kBadRegistration, "there are not as many sizes as addresses");
  if (Status status = checkLocation(options.location); !status.ok()) return status;
  tent_memory_options_t all = optionsOf(options);
  // The C API takes arrays that it does not write to, without saying so.
  return statusOf(tent_register_memory_batch_ex(handle_, const_cast<void**>(addrs.data()),
                                                const_cast<size_t*>(sizes.data()), addrs.size(), &all));
}

Status TransferEngine::unregisterLocalMemory(void* addr, size_t size) {
  return statusOf(tent_unregister_memory(handle_, addr, size));
}

Status TransferEngine::unregisterLocalMemory(const std::vector<void*>& addrs, const std::vector<size_t>& sizes) {
  std::vector<size_t> each = sizes;
  if (each.empty()) each.resize(addrs.size());
  if (addrs.size() != each.size()) return refusal(kBadRegistration, "there are not as many sizes as addresses");
  return statusOf(tent_unregister_memory_batch(handle_, const_cast<void**>(addrs.data()), each.data(), addrs.size()));
}

}  // namespace v1
}  // namespace tent
