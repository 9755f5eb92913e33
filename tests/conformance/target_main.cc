// conformance_target SUITE STALL_NS CONNECT_NS: the target of a conformance test, in a process of its own. Reads a
// command a line from descriptor 3 and writes the answer there, a line each:
//
//     memory BYTES ACCESS allocate|register   ID BASE LENGTH ACCESS SHARED KEY    (KEY in hex, "-" for none)
//     unregister ID                           ok
//     answer OFFER                            ANSWER or "error REASON"            (both in hex)
//     fill ADDRESS LENGTH SEED                ok
//     checksum ADDRESS LENGTH                 SUM
//     traffic                                 READ WRITTEN                        (what peers moved here)
//
// Ends when the descriptor does.
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "conformance/backends.h"
#include "conformance/memory.h"
#include "transport/shared_memory.h"

namespace tent::conformance {
namespace {

constexpr int kCommandFd = 3;

class Target {
 public:
  Target(const std::string& suite, const Limits& limits) : backend_(makeBackend(suite, loop_, limits)) {}
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() { backend_->stop(); }

  std::string carryOut(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "memory") return memory(words);
    if (command == "answer") return answer(words);
    uint64_t address = 0;  // or an id
    uint64_t length = 0;
    uint64_t seed = 0;
    words >> address >> length >> seed;
    auto* const bytes = reinterpret_cast<std::byte*>(address);
    if (command == "unregister") {
      backend_->unregisterRegion(address);
    } else if (command == "fill") {
      fillPattern(bytes, length, seed);
    } else if (command == "checksum") {
      return fmt::format("{}", checksumOf(bytes, length));
    } else if (command == "traffic") {
      const Traffic traffic = backend_->traffic();
      return fmt::format("{} {}", traffic.served_read_bytes, traffic.served_written_bytes);
    } else {
      return "what?";
    }
    return "ok";
  }

 private:
  std::string memory(std::istringstream& words) {
    Region region;
    int access = 0;
    std::string how;
    words >> region.length >> access >> how;
    region.id = ++last_id_;
    region.access = static_cast<Access>(access);
    if (how == "allocate") {
      auto shared = SharedMemory::allocate(region.length, region.access == Access::kReadWrite);
      if (!shared) return "error " + messageOf(shared.error());
      region.base = (*shared)->data();
      region.shared = shared->get();
      shared_.push_back(std::move(*shared));
    } else {
      // Bytes of others lie before and after, as in an application.
      auto& block = own_.emplace_back(new std::byte[region.length + 2 * kMargin]());
      region.base = block.get() + kMargin;
    }
    const auto key = backend_->registerRegion(region);
    if (!key) return "error " + messageOf(key.error());
    return fmt::format("{} {} {} {} {} {}", region.id, reinterpret_cast<uintptr_t>(region.base), region.length, access,
                       region.shared != nullptr ? 1 : 0, hexOf(*key));
  }

  std::string answer(std::istringstream& words) {
    std::string offer;
    words >> offer;
    const auto text = backend_->answer(fromHex(offer));
    return text ? hexOf(*text) : "error " + std::string(nameOf(text.error().reason));
  }

  static constexpr uint64_t kMargin = 4096 + 17;

  Loop loop_{"target-loop"};
  std::unique_ptr<Backend> backend_;
  uint64_t last_id_ = 0;
  std::vector<std::unique_ptr<SharedMemory>> shared_;
  std::vector<std::unique_ptr<std::byte[]>> own_;
};

int serve(const std::string& suite, const Limits& limits) {
  std::FILE* const commands = fdopen(kCommandFd, "r+");
  if (commands == nullptr) return 2;
  Target target(suite, limits);
  std::string line;
  for (int c = 0; (c = std::fgetc(commands)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const std::string reply = target.carryOut(line) + "\n";
    if (::write(kCommandFd, reply.data(), reply.size()) != static_cast<ssize_t>(reply.size())) return 2;
    line.clear();
  }
  return 0;
}

}  // namespace
}  // namespace tent::conformance

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return tent::conformance::serve(argv[1], {std::stoull(argv[2]), std::stoull(argv[3])});
}
