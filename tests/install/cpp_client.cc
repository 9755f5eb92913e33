// A program of someone else's: moves bytes to an engine by the C++ API and checks that they are there.
#include <cstdio>
#include <cstring>
#include <string>

#include <tent/engine.h>

namespace {

int fail(const char* what, const tent::Status& status) {
  std::fprintf(stderr, "C++ client: %s: %s\n", what, status.toString().c_str());
  return 1;
}

}  // namespace

int main() {
  tent::TransferEngine initiator;
  tent::TransferEngine target;
  if (!initiator.available()) return fail("initiator", initiator.creationStatus());
  if (!target.available()) return fail("target", target.creationStatus());

  std::string local = "bytes to move";
  void* remote = nullptr;
  tent::SegmentID segment = 0;
  if (auto status = target.allocateLocalMemory(&remote, local.size()); !status.ok()) return fail("allocate", status);
  if (auto status = initiator.registerLocalMemory(local.data(), local.size()); !status.ok()) {
    return fail("register", status);
  }
  if (auto status = initiator.openSegment(segment, target.getSegmentName()); !status.ok()) return fail("open", status);

  tent::Request request{tent::Request::WRITE, local.data(), segment, reinterpret_cast<uint64_t>(remote), local.size()};
  request.intent_type = tent::IntentType::CHECKPOINT;
  const tent::BatchID batch = initiator.allocateBatch(1);
  if (auto status = initiator.submitTransfer(batch, {request}); !status.ok()) return fail("submit", status);
  if (auto status = initiator.waitBatch(batch, std::chrono::seconds(10)); !status.ok()) return fail("wait", status);
  if (std::memcmp(remote, local.data(), local.size()) != 0) return fail("compare", tent::lastStatus());
  std::puts("C++ client: moved");
  return initiator.freeBatch(batch).ok() ? 0 : 1;
}
