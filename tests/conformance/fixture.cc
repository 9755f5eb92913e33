#include "conformance/fixture.h"

namespace tent::conformance {

Fixture::Fixture(const Kind& of, const Limits& limits)
    : kind(of), target(of, limits), backend(makeBackend(of.suite, loop, limits)) {}

OpenLink Fixture::connect() {
  OpenLink open;
  open.told = std::make_shared<Recorder>();
  auto link = backend->connect(target.answer(backend->offer()), "127.0.0.1", open.told);
  REQUIRE_MESSAGE(link, messageOf(link.error()));
  open.link = std::move(*link);
  return open;
}

OpenLink Fixture::open() {
  OpenLink open = connect();
  const Error error = open.link->waitReady(kWatchdogNs);
  REQUIRE_MESSAGE(!error, messageOf(error));
  return open;
}

void Fixture::carryOut(OpenLink& link, std::vector<Transfer> transfers, uint64_t first_token) {
  for (size_t i = 0; i < transfers.size(); ++i) transfers[i].token = first_token + i;
  const size_t before = link.told->count();
  link.link->submit(transfers);
  REQUIRE(link.told->waitCompleted(before + transfers.size(), link.link.get()));
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Completion completion = link.told->of(first_token + i);
    CAPTURE(completion.detail);
    REQUIRE(nameOf(completion.reason) == nameOf(Reason::kNone));
  }
}

void Fixture::checkRefused(OpenLink& link, Transfer transfer, Reason reason) {
  transfer.token = ++last_token_;
  const size_t before = link.told->count();
  link.link->submit({&transfer, 1});
  REQUIRE(link.told->waitCompleted(before + 1, link.link.get()));
  const Completion completion = link.told->of(transfer.token);
  CAPTURE(completion.detail);
  CHECK(nameOf(completion.reason) == nameOf(reason));
  CHECK(nameOf(completion.aftermath) == nameOf(Aftermath::kUntouched));
}

Transfer transferOf(Direction direction, std::byte* local, uint64_t length, const RemoteRegion& region,
                    uint64_t offset) {
  return Transfer{direction, local, length, region.base + offset, &region, 0};
}

}  // namespace tent::conformance
