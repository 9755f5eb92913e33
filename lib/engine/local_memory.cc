#include "engine/local_memory.h"

#include <fmt/format.h>

#include "base/units.h"
#include "transport/mapped_memory.h"

namespace tent {
namespace {

// How long a peer's access that is going on may hold up its end, before its link is cut.
constexpr uint64_t kWithdrawTimeoutNs = 1'000'000'000;

Access accessOf(Permission permission) {
  switch (permission) {
    case Permission::kLocalReadWrite: return Access::kNone;
    case Permission::kGlobalReadOnly: return Access::kRead;
    case Permission::kGlobalReadWrite: return Access::kReadWrite;
  }
  return Access::kNone;
}

Error registrationError(std::string detail) {
  return errorOf(Reason::kRegistrationFailed, std::move(detail));
}

uint64_t numberOf(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

bool sameOptions(const MemoryOptions& a, const MemoryOptions& b) {
  return a.permission == b.permission && a.location == b.location;
}

Error checkLocation(const MemoryLocation& location) {
  if (location.kind == MemoryKind::kCpu) return {};
  return registrationError("this build serves host memory only, not " + toString(location));
}

}  // namespace

LocalMemory::~LocalMemory() {
  for (const auto& [base, registration] : by_base_) withdraw(registration);
  for (const auto& [base, registration] : lent_) withdraw(registration);
}

LocalMemory::ByBase::const_iterator LocalMemory::holding(uint64_t address) const {
  auto after = by_base_.upper_bound(address);
  if (after == by_base_.begin()) return by_base_.end();
  --after;
  return address - after->first < after->second.length ? after : by_base_.end();
}

Error LocalMemory::serve(Registration& registration, const Region& region) {
  for (const Server& server : servers_) {
    tl::expected<std::string, Error> key = server.backend->registerRegion(region);
    if (!key) {
      withdraw(registration);
      return std::move(key.error());
    }
    registration.keys[server.transport] = *std::move(key);
  }
  return {};
}

Error LocalMemory::add(std::byte* address, uint64_t bytes, const MemoryOptions& options, Access own_access,
                       std::unique_ptr<SharedMemory> shared) {
  Registration registration;
  registration.id = next_id_++;
  registration.length = bytes;
  registration.options = options;
  registration.own_access = own_access;
  const Region region{registration.id, address, bytes, accessOf(options.permission), shared.get(), own_access};
  registration.shared = std::move(shared);
  table_.add(region);
  // What is kept from peers is not their business at all.
  if (region.access != Access::kNone) {
    if (Error error = serve(registration, region)) return error;
  }
  by_base_.emplace(numberOf(address), std::move(registration));
  return {};
}

void LocalMemory::withdraw(const Registration& registration) {
  for (const Server& server : servers_) {
    if (registration.keys.contains(server.transport)) server.backend->unregisterRegion(registration.id);
  }
  table_.remove(registration.id, kWithdrawTimeoutNs);
}

tl::expected<void*, Error> LocalMemory::allocate(uint64_t bytes, const MemoryOptions& options) {
  if (bytes == 0) return tl::unexpected(registrationError("0 bytes cannot be allocated"));
  if (Error error = checkLocation(options.location)) return tl::unexpected(std::move(error));
  auto shared = SharedMemory::allocate(bytes, options.permission == Permission::kGlobalReadWrite);
  if (!shared) return tl::unexpected(std::move(shared.error()));
  std::byte* const address = (*shared)->data();
  const std::lock_guard lock(mutex_);
  if (Error error = add(address, bytes, options, Access::kReadWrite, *std::move(shared)))
    return tl::unexpected(std::move(error));
  return address;
}

Error LocalMemory::free(void* address, const InUse& in_use) {
  const std::lock_guard lock(mutex_);
  const auto it = by_base_.find(numberOf(address));
  if (it == by_base_.end() || it->second.shared == nullptr) {
    return registrationError("it is not the start of memory that this engine allocated, or was freed before");
  }
  if (in_use && in_use(it->first, it->second.length)) {
    return registrationError("it cannot be freed: tasks from or to it are in flight; cancel them, and wait for them");
  }
  withdraw(it->second);
  by_base_.erase(it);
  return {};
}

Error LocalMemory::registerRange(void* address, uint64_t bytes, const MemoryOptions& options) {
  const uint64_t base = numberOf(address);
  if (address == nullptr) return registrationError("the address is NULL");
  if (bytes == 0) return registrationError("0 bytes cannot be registered");
  if (bytes > UINT64_MAX - base) return registrationError("the range wraps around the end of the address space");
  if (Error error = checkLocation(options.location)) return error;
  const Access own_access = accessOfRange(static_cast<const std::byte*>(address), bytes);
  const std::lock_guard lock(mutex_);
  const auto it = holding(base);
  if (it != by_base_.end()) {
    Registration& there = by_base_.at(it->first);
    const bool inside = bytes <= there.length - (base - it->first);
    const bool same = it->first == base && there.length == bytes;
    if (!(there.shared != nullptr ? inside : same)) {
      return registrationError(
          fmt::format("{} of it are registered already, as part of another range; unregister "
                      "that one first",
                      formatSize(std::min(bytes, there.length - (base - it->first)))));
    }
    if (!sameOptions(options, there.options)) {
      return registrationError(fmt::format("it is registered already with other options ({}, {})",
                                           toString(there.options.location), nameOf(there.options.permission)));
    }
    ++there.count;
    return {};
  }
  const auto after = by_base_.lower_bound(base);
  if (after != by_base_.end() && after->first - base < bytes) {
    return registrationError("a part of it is registered already; unregister that one first");
  }
  return add(static_cast<std::byte*>(address), bytes, options, own_access, nullptr);
}

Error LocalMemory::unregisterRange(void* address, uint64_t bytes) {
  const uint64_t base = numberOf(address);
  const std::lock_guard lock(mutex_);
  const auto it = holding(base);
  Registration* there = it == by_base_.end() ? nullptr : &by_base_.at(it->first);
  const bool allocated = there != nullptr && there->shared != nullptr;
  const bool matches = there != nullptr && (allocated ? bytes <= there->length - (base - it->first) && there->count > 1
                                                      : it->first == base && (bytes == 0 || there->length == bytes));
  if (!matches) return registrationError("this range is not registered");
  if (--there->count > 0) return {};
  withdraw(*there);
  by_base_.erase(it);
  return {};
}

LocalMemory::Place LocalMemory::placeOf(const void* address, uint64_t length) const {
  const std::lock_guard lock(mutex_);
  const auto it = holding(numberOf(address));
  if (it == by_base_.end()) return {};
  const Registration& there = it->second;
  const uint64_t offset = numberOf(address) - it->first;
  return {there.options.location,
          length <= there.length - offset,
          there.shared != nullptr,
          static_cast<const std::byte*>(address) - offset,
          there.length,
          there.own_access};
}

PeerBuffer LocalMemory::describe(uint64_t base, const Registration& registration) {
  PeerBuffer buffer;
  buffer.location = registration.options.location;
  buffer.memory = {registration.id,
                   base,
                   registration.length,
                   accessOf(registration.options.permission),
                   registration.shared != nullptr,
                   ""};
  for (const auto& [transport, key] : registration.keys) {
    RemoteRegion region = buffer.memory;
    region.key = key;
    buffer.regions.emplace(transport, std::move(region));
  }
  return buffer;
}

std::map<uint64_t, PeerBuffer> LocalMemory::describe() const {
  std::map<uint64_t, PeerBuffer> buffers;
  const std::lock_guard lock(mutex_);
  for (const auto& [base, registration] : by_base_) {
    if (accessOf(registration.options.permission) == Access::kNone) continue;
    buffers.emplace(base, describe(base, registration));
  }
  return buffers;
}

tl::expected<PeerBuffer, Error> LocalMemory::lend(uint64_t bytes) {
  auto shared = SharedMemory::allocate(bytes, true);
  if (!shared) return tl::unexpected(std::move(shared.error()));
  const uint64_t base = numberOf((*shared)->data());
  const std::lock_guard lock(mutex_);
  Registration registration;
  registration.id = next_id_++;
  registration.length = bytes;
  registration.shared = *std::move(shared);
  const Region region{registration.id, registration.shared->data(), bytes, Access::kReadWrite,
                      registration.shared.get()};
  if (Error error = serve(registration, region)) return tl::unexpected(std::move(error));
  return describe(base, lent_.emplace(base, std::move(registration)).first->second);
}

void LocalMemory::takeBack(uint64_t base) {
  ByBase::node_type lent;
  {
    const std::lock_guard lock(mutex_);
    lent = lent_.extract(base);
  }
  if (!lent.empty()) withdraw(lent.mapped());
}

std::vector<BufferInfo> LocalMemory::info() const {
  std::vector<BufferInfo> buffers;
  const std::lock_guard lock(mutex_);
  for (const auto& [base, registration] : by_base_) {
    buffers.push_back(
        {base, registration.length, registration.options.location, registration.options.permission,
         registration.shared != nullptr ? tent::Registration::kAllocated : tent::Registration::kApplication});
  }
  return buffers;
}

}  // namespace tent
