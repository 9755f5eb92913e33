// A target in its process, and an initiator here, with links between them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "conformance/backends.h"
#include "conformance/memory.h"
#include "conformance/recorder.h"
#include "conformance/target_process.h"
#include "transport/backend.h"
#include "transport/loop.h"

// CONTRACT("sentence", function): a test case for each backend, in the suite of its name. The names differ because
// doctest takes cases of one line and one name for one.
#define CONTRACT_OF(suite, kind, sentence, function)           \
  TEST_CASE(suite ": " sentence* doctest::test_suite(suite)) { \
    function(tent::conformance::kind);                         \
  }
#define CONTRACT_OF_TCP(sentence, function)    \
  CONTRACT_OF("tcp", kTcp, sentence, function) \
  CONTRACT_OF("tcp_encrypted", kTcpEncrypted, sentence, function)
#define CONTRACT_OF_FAKE(sentence, function) CONTRACT_OF("fake", kFake, sentence, function)
#define CONTRACT_OF_SHM(sentence, function)                 \
  CONTRACT_OF("shm_mapped", kShmMapped, sentence, function) \
  CONTRACT_OF("shm_copied", kShmCopied, sentence, function)
#define CONTRACT(sentence, function)  \
  CONTRACT_OF_TCP(sentence, function) \
  CONTRACT_OF_SHM(sentence, function) \
  CONTRACT_OF_FAKE(sentence, function)

namespace tent::conformance {

// A link with what it told.
struct OpenLink {
  std::shared_ptr<Recorder> told;
  std::unique_ptr<Link> link;
};

// Memory with a known content.
class Bytes {
 public:
  Bytes(uint64_t count, uint64_t seed) : bytes_(new std::byte[count]), count_(count) {
    fillPattern(bytes_.get(), count, seed);
  }
  std::byte* data() const { return bytes_.get(); }
  uint64_t size() const { return count_; }
  uint64_t checksum() const { return checksumOf(data(), count_); }
  bool operator==(const Bytes& other) const {
    return count_ == other.count_ && sameBytes(data(), other.data(), count_);
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  uint64_t count_;
};

class Fixture {
 public:
  explicit Fixture(const Kind& kind, const Limits& limits = {});
  ~Fixture() { backend->stop(); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  // A link that may not be ready yet, and one that is.
  OpenLink connect();
  OpenLink open();

  // Submits these and waits for them; the tokens are their positions from `first_token`.
  void carryOut(OpenLink& link, std::vector<Transfer> transfers, uint64_t first_token = 0);
  // One transfer that must fail so.
  void checkRefused(OpenLink& link, Transfer transfer, Reason reason);

  Kind kind;
  TargetProcess target;
  Loop loop{"initiator-loop"};
  std::unique_ptr<Backend> backend;

 private:
  uint64_t last_token_ = 1'000'000'000;  // of checkRefused
};

// Of `region`, `offset` bytes from its base.
Transfer transferOf(Direction direction, std::byte* local, uint64_t length, const RemoteRegion& region,
                    uint64_t offset);

}  // namespace tent::conformance
