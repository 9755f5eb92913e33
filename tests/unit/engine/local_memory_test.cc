#include "engine/local_memory.h"

#include <map>

#include <doctest/doctest.h>

namespace tent {
namespace {

// Remembers which regions it serves.
class Recorder final : public Backend {
 public:
  const Capabilities& capabilities() const override { return capabilities_; }
  Traffic traffic() const override { return {}; }
  tl::expected<std::string, Error> registerRegion(const Region& region) override {
    if (refuse) return tl::unexpected(errorOf(Reason::kRegistrationFailed, "no"));
    regions[region.id] = region;
    return "key-" + std::to_string(region.id);
  }
  void unregisterRegion(uint64_t id) override { regions.erase(id); }
  tl::expected<std::string, Error> answer(std::string_view /*offer*/) override { return ""; }
  std::string offer() override { return ""; }
  tl::expected<std::unique_ptr<Link>, Error> connect(std::string_view /*answer*/, const std::string& /*host*/,
                                                     std::shared_ptr<LinkObserver> /*observer*/) override {
    return tl::unexpected(errorOf(Reason::kInternal, ""));
  }
  void stop() override {}

  std::map<uint64_t, Region> regions;
  bool refuse = false;

 private:
  Capabilities capabilities_;
};

struct MemoryFixture {
  Recorder first;
  Recorder second;
  LocalMemory memory{{{Transport::kShm, &first}, {Transport::kTcp, &second}}};
  std::array<std::byte, 4096> data{};
};

}  // namespace

TEST_CASE("registered memory is served by every backend until it is unregistered") {
  MemoryFixture f;
  REQUIRE_FALSE(f.memory.registerRange(f.data.data(), f.data.size(), {}));
  CHECK(f.first.regions.size() == 1);
  CHECK(f.second.regions.size() == 1);
  const auto described = f.memory.describe();
  REQUIRE(described.size() == 1);
  CHECK(described.begin()->second.regionFor(Transport::kTcp)->key.starts_with("key-"));
  CHECK_FALSE(f.memory.unregisterRange(f.data.data(), f.data.size()));
  CHECK(f.first.regions.empty());
  CHECK(f.memory.describe().empty());
}

TEST_CASE("registering again changes nothing, and each unregister undoes one register") {
  MemoryFixture f;
  REQUIRE_FALSE(f.memory.registerRange(f.data.data(), 4096, {}));
  REQUIRE_FALSE(f.memory.registerRange(f.data.data(), 4096, {}));
  CHECK(f.first.regions.size() == 1);
  CHECK_FALSE(f.memory.unregisterRange(f.data.data(), 4096));
  CHECK(f.first.regions.size() == 1);
  CHECK_FALSE(f.memory.unregisterRange(f.data.data(), 4096));
  CHECK(f.first.regions.empty());
  CHECK(f.memory.unregisterRange(f.data.data(), 4096).reason == Reason::kRegistrationFailed);
}

TEST_CASE("registering allocated memory, or a part of it, changes nothing") {
  MemoryFixture f;
  auto allocated = f.memory.allocate(8192, {});
  REQUIRE(allocated);
  auto* const base = static_cast<std::byte*>(*allocated);
  CHECK_FALSE(f.memory.registerRange(base, 8192, {}));
  CHECK_FALSE(f.memory.registerRange(base + 100, 10, {}));
  CHECK(f.first.regions.size() == 1);
  CHECK(f.first.regions.begin()->second.shared != nullptr);
  CHECK_FALSE(f.memory.unregisterRange(base + 100, 10));
  CHECK_FALSE(f.memory.unregisterRange(base, 8192));
  CHECK(f.memory.unregisterRange(base, 8192).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(base + 8000, 200, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.free(base + 1).reason == Reason::kRegistrationFailed);
  CHECK_FALSE(f.memory.free(base));
  CHECK(f.first.regions.empty());
}

TEST_CASE("what overlaps another range, or has other options, is refused") {
  MemoryFixture f;
  std::byte* const base = f.data.data();
  REQUIRE_FALSE(f.memory.registerRange(base + 1000, 1000, {}));
  CHECK(f.memory.registerRange(base, 1001, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(base + 1999, 10, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(base + 1100, 10, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(base, 4096, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(base + 1000, 1000, {{}, Permission::kGlobalReadOnly}).reason ==
        Reason::kRegistrationFailed);
  CHECK_FALSE(f.memory.registerRange(base, 1000, {}));
  CHECK_FALSE(f.memory.registerRange(base + 2000, 10, {}));
}

TEST_CASE("nothing, no bytes, ranges that wrap and other memories are refused") {
  MemoryFixture f;
  CHECK(f.memory.registerRange(nullptr, 1, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(f.data.data(), 0, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(f.data.data(), UINT64_MAX, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.registerRange(f.data.data(), 1, {{MemoryKind::kCuda, 0}}).reason == Reason::kRegistrationFailed);
  CHECK(f.memory.allocate(0, {}).error().reason == Reason::kRegistrationFailed);
  CHECK(f.memory.free(nullptr).reason == Reason::kRegistrationFailed);
}

TEST_CASE("local-only memory is shown to no backend and no peer") {
  MemoryFixture f;
  REQUIRE_FALSE(f.memory.registerRange(f.data.data(), 4096, {{}, Permission::kLocalReadWrite}));
  CHECK(f.first.regions.empty());
  CHECK(f.memory.describe().empty());
  CHECK(f.memory.info().size() == 1);
  CHECK(f.memory.use(reinterpret_cast<uintptr_t>(f.data.data()), 1, Access::kRead).error().reason ==
        Reason::kPermissionDenied);
}

TEST_CASE("a backend that refuses leaves nothing registered") {
  MemoryFixture f;
  f.second.refuse = true;
  CHECK(f.memory.registerRange(f.data.data(), 4096, {}).reason == Reason::kRegistrationFailed);
  CHECK(f.first.regions.empty());
  CHECK(f.memory.info().empty());
}

}  // namespace tent
