#include "tent-submit/source_memory.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/units.h"

namespace tent::tool {
namespace {

constexpr uint64_t kGranularity = 2u << 20;

}  // namespace

tl::expected<std::byte*, Error> SourceMemory::reserve(Engine& engine, Registration registration,
                                                      const MemoryLocation& location, uint64_t bytes) {
  auto it = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return block.registration == registration && block.location == location;
  });
  if (it == blocks_.end()) {
    it = blocks_.emplace(blocks_.end());
    it->registration = registration;
    it->location = location;
  }
  if (it->bytes < bytes) {
    if (Error error = grow(engine, *it, bytes)) return tl::unexpected(std::move(error));
  }
  return it->base;
}

Error SourceMemory::grow(Engine& engine, Block& block, uint64_t bytes) {
  const bool application = block.registration == Registration::kApplication;
  if (block.base != nullptr) {
    Error error = application ? engine.unregisterMemory(block.base, block.bytes) : engine.freeMemory(block.base);
    if (error) return error;
    block.base = nullptr;
    block.bytes = 0;
    block.mapping = {};
  }
  if (bytes <= UINT64_MAX - kGranularity) bytes = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  const MemoryOptions options{block.location, Permission::kLocalReadWrite};
  if (application) {
    auto mapping = Mapping::make(bytes);
    if (!mapping) {
      return {Reason::kResourceExhausted,
              Field::kSource,
              -1,
              {},
              fmt::format("{} of source memory: {}", formatSize(bytes), std::generic_category().message(errno))};
    }
    std::byte* const base = mapping->memory().data();
    if (Error error = engine.registerMemory(base, bytes, options)) return error;
    block.mapping = *std::move(mapping);
    block.base = base;
  } else {
    auto base = engine.allocateMemory(bytes, options);
    if (!base) return std::move(base.error());
    block.base = static_cast<std::byte*>(*base);
  }
  block.bytes = bytes;
  return {};
}

}  // namespace tent::tool
