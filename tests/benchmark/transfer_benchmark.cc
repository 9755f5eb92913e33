// Transfers beside the ceilings of the machine they run on, measured in the same run: memcpy for mapped shm, the
// kernel's cross-process copy for the application's own memory, a raw TCP stream with the same write size for tcp, and
// a raw ping-pong that wakes a waiting thread, as the engine does, for the latency of small transfers over it.
//
// The target is a second process. Figures, not verdicts: compare a line with its ceiling in the same output, and take
// the best of several runs on a machine that others use too.
//
//   transfer_benchmark [ROUNDS]
#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/engine.h"

namespace tent {
namespace {

constexpr uint64_t kMemoryBytes = 64u << 20;
constexpr size_t kDepth = 16;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "transfer_benchmark: %s\n", what.c_str());
  std::exit(4);
}

// Page-aligned, as buffers of this size are, and in use: alignment alone can halve the speed of a copy.
std::byte* makeMemory(int value) {
  void* memory = mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("no memory");
  return static_cast<std::byte*>(std::memset(memory, value, kMemoryBytes));
}

// What the second process tells once: where to find everything.
struct Target {
  char address[64] = {};
  uint64_t allocated = 0;
  uint64_t registered = 0;
  uint16_t raw_port = 0;
  pid_t pid = 0;
};

void readAll(int fd, void* data, size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(fd, at, bytes);
    if (got <= 0) fail("the other process has gone");
    at += got;
    bytes -= static_cast<size_t>(got);
  }
}

void writeAll(int fd, const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = write(fd, at, bytes);
    if (sent <= 0) fail("the other process has gone");
    at += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

// One raw connection after the other. Its first 8 bytes say what it is: the bytes that will be sent, to be taken into
// fresh places and answered with one byte, or 0 for a ping-pong of the size that follows.
void serveRaw(int listener, std::byte* memory) {
  while (true) {
    const int fd = accept(listener, nullptr, nullptr);
    if (fd < 0) return;
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    uint64_t head[2];
    readAll(fd, head, sizeof head);
    if (head[0] > 0) {
      uint64_t got = 0;
      while (got < head[0]) {
        const size_t room = kMemoryBytes - got % kMemoryBytes;
        const ssize_t n = recv(fd, memory + got % kMemoryBytes, std::min<uint64_t>(room, head[0] - got), 0);
        if (n <= 0) break;
        got += static_cast<uint64_t>(n);
      }
      writeAll(fd, "k", 1);
    } else {
      while (true) {
        uint64_t got = 0;
        while (got < head[1]) {
          const ssize_t n = recv(fd, memory, head[1] - got, 0);
          if (n <= 0) break;
          got += static_cast<uint64_t>(n);
        }
        if (got < head[1]) break;
        writeAll(fd, "k", 1);
      }
    }
    close(fd);
  }
}

[[noreturn]] void runTarget(int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto engine = Engine::create({});
  if (!engine) fail(messageOf(engine.error()));
  Target target;
  std::snprintf(target.address, sizeof target.address, "%s", (*engine)->address().c_str());
  auto* allocated = static_cast<std::byte*>((*engine)->allocateMemory(kMemoryBytes).value());
  std::byte* const registered = makeMemory(1);
  if (Error error = (*engine)->registerMemory(registered, kMemoryBytes)) fail(messageOf(error));
  std::memset(allocated, 1, kMemoryBytes);
  target.allocated = reinterpret_cast<uintptr_t>(allocated);
  target.registered = reinterpret_cast<uintptr_t>(registered);
  target.pid = getpid();
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 8) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    fail("cannot listen");
  }
  target.raw_port = ntohs(address.sin_port);
  writeAll(out, &target, sizeof target);
  serveRaw(listener, makeMemory(1));
  std::exit(0);
}

int connectRaw(const Target& target) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(target.raw_port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("cannot connect");
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

double gigabytesPerSecond(uint64_t bytes, uint64_t ns) {
  return static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(ns, 1));
}

// ---- the ceilings

double rawTcp(const Target& target, std::byte* local, uint64_t write_bytes, uint64_t total) {
  const int fd = connectRaw(target);
  const uint64_t head[2] = {total, 0};
  writeAll(fd, head, sizeof head);
  const uint64_t start = monotonicNowNs();
  for (uint64_t sent = 0; sent < total; sent += write_bytes) writeAll(fd, local + sent % kMemoryBytes, write_bytes);
  char done = 0;
  readAll(fd, &done, 1);
  const uint64_t spent = monotonicNowNs() - start;
  close(fd);
  return gigabytesPerSecond(total, spent);
}

double memcpyCeiling(std::byte* to, const std::byte* from, uint64_t size, uint64_t total) {
  const uint64_t start = monotonicNowNs();
  for (uint64_t done = 0; done < total; done += size) {
    std::memcpy(to + done % kMemoryBytes, from + done % kMemoryBytes, size);
  }
  return gigabytesPerSecond(total, monotonicNowNs() - start);
}

double crossProcessCeiling(const Target& target, std::byte* from, uint64_t size, uint64_t total) {
  const uint64_t start = monotonicNowNs();
  for (uint64_t done = 0; done < total; done += size) {
    const iovec local{from + done % kMemoryBytes, size};
    const iovec remote{reinterpret_cast<void*>(target.registered + done % kMemoryBytes), size};  // NOLINT
    if (process_vm_writev(target.pid, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(size)) return 0;
  }
  return gigabytesPerSecond(total, monotonicNowNs() - start);
}

uint64_t median(std::vector<uint64_t>& samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

// A thread sends; another receives the answer and wakes it.
uint64_t pingPong(const Target& target, std::byte* local, uint64_t size, size_t count) {
  const int fd = connectRaw(target);
  const uint64_t head[2] = {0, size};
  writeAll(fd, head, sizeof head);
  std::mutex mutex;
  std::condition_variable woken;
  size_t answers = 0;
  std::thread receiver([&] {
    char one = 0;
    while (recv(fd, &one, 1, 0) == 1) {
      const std::lock_guard lock(mutex);
      ++answers;
      woken.notify_one();
    }
  });
  std::vector<uint64_t> samples;
  for (size_t i = 1; i <= count; ++i) {
    const uint64_t start = monotonicNowNs();
    writeAll(fd, local, size);
    std::unique_lock lock(mutex);
    woken.wait(lock, [&] { return answers == i; });
    samples.push_back(monotonicNowNs() - start);
  }
  shutdown(fd, SHUT_RDWR);
  receiver.join();
  close(fd);
  return median(samples);
}

// ---- the engine

class Initiator {
 public:
  explicit Initiator(const Target& target) {
    auto engine = Engine::create({});
    if (!engine) fail(messageOf(engine.error()));
    engine_ = *std::move(engine);
    const auto segment = engine_->openSegment(target.address);
    if (!segment) fail(messageOf(segment.error()));
    segment_ = *segment;
    // As memory that is used again and again is.
    if (Error error = engine_->registerMemory(local_, kMemoryBytes)) fail(messageOf(error));
  }

  std::byte* local() { return local_; }

  // `depth` transfers at a time until `total` bytes have moved, in batches that take many of these. GB/s.
  double rate(Transport transport, Opcode opcode, uint64_t base, uint64_t size, size_t depth, uint64_t total) {
    const size_t submits = total / size / depth;
    const BatchId batch = engine_->allocateBatch(submits * depth).value();
    std::vector<Request> requests(depth);
    const uint64_t start = monotonicNowNs();
    uint64_t done = 0;
    for (size_t i = 0; i < submits; ++i) {
      for (Request& next : requests) {
        next = request(transport, opcode, base, done % kMemoryBytes, size);
        done += size;
      }
      submitAndWait(batch, requests);
    }
    const uint64_t spent = monotonicNowNs() - start;
    if (engine_->batchStatus(batch).value().state != TaskState::kCompleted) fail("a transfer failed");
    engine_->freeBatch(batch);
    return gigabytesPerSecond(done, spent);
  }

  // Median of single transfers, submit to the return of the wait. Nanoseconds.
  uint64_t latency(Transport transport, Opcode opcode, uint64_t base, uint64_t size, size_t count) {
    std::vector<uint64_t> samples;
    std::vector<Request> one{request(transport, opcode, base, 0, size)};
    const BatchId batch = engine_->allocateBatch(count).value();
    for (size_t i = 0; i < count; ++i) {
      const uint64_t start = monotonicNowNs();
      submitAndWait(batch, one);
      samples.push_back(monotonicNowNs() - start);
    }
    engine_->freeBatch(batch);
    return median(samples);
  }

 private:
  Request request(Transport transport, Opcode opcode, uint64_t base, uint64_t offset, uint64_t size) {
    Request request;
    request.fields.opcode = static_cast<int32_t>(opcode);
    request.fields.length = size;
    request.fields.target_offset = base + offset;
    request.fields.transport_hint = static_cast<int32_t>(transport);
    request.source = local_ + offset;
    request.target = segment_;
    return request;
  }

  void submitAndWait(BatchId batch, const std::vector<Request>& requests) {
    if (const auto submitted = engine_->submit(batch, requests, ValidationMode::kStrict); !submitted) {
      fail(messageOf(submitted.error().error));
    }
    engine_->wait(batch, std::nullopt).value();
  }

  std::byte* local_ = makeMemory(2);
  std::unique_ptr<Engine> engine_;
  SegmentId segment_ = 0;
};

// Measures the ceiling and the engine alternately, and prints the best of each and their ratio.
void compare(const char* what, int rounds, const char* unit, const std::function<double()>& ceiling,
             const std::function<double()>& ours, bool higher_is_better) {
  double best_ceiling = 0;
  double best_ours = 0;
  const auto better = [&](double a, double b) { return b == 0 || (higher_is_better ? a > b : a < b) ? a : b; };
  for (int i = 0; i < rounds; ++i) {
    best_ceiling = better(ceiling(), best_ceiling);
    best_ours = better(ours(), best_ours);
  }
  fmt::print("{:<44} {:>9.2f} {:<4}  ceiling {:>9.2f}  ratio {:.2f}\n", what, best_ours, unit, best_ceiling,
             best_ours / best_ceiling);
  std::fflush(stdout);
}

void runInitiator(const Target& target, int rounds) {
  Initiator initiator(target);
  std::byte* const local = initiator.local();
  std::byte* const other = makeMemory(3);
  constexpr uint64_t kTotal = 512u << 20;
  constexpr size_t kSamples = 2000;

  for (const Opcode opcode : {Opcode::kWrite, Opcode::kRead}) {
    const std::string op(nameOf(opcode));
    for (const uint64_t size : {65536u, 1u << 20}) {
      compare(
          fmt::format("tcp {} {} KiB, {} in flight (raw TCP)", op, size >> 10, kDepth).c_str(), rounds, "GB/s",
          [&] { return rawTcp(target, local, size, kTotal); },
          [&] { return initiator.rate(Transport::kTcp, opcode, target.allocated, size, kDepth, kTotal); }, true);
    }
    compare(
        fmt::format("tcp {} 4 KiB, median (raw ping-pong)", op).c_str(), rounds, "us",
        [&] { return static_cast<double>(pingPong(target, local, 4096, kSamples)) / 1e3; },
        [&] {
          return static_cast<double>(initiator.latency(Transport::kTcp, opcode, target.allocated, 4096, kSamples)) /
                 1e3;
        },
        false);
    for (const uint64_t size : {65536u, 1u << 20}) {
      compare(
          fmt::format("shm mapped {} {} KiB, one at a time (memcpy)", op, size >> 10).c_str(), rounds, "GB/s",
          [&] { return memcpyCeiling(other, local, size, kTotal); },
          [&] { return initiator.rate(Transport::kShm, opcode, target.allocated, size, 1, kTotal); }, true);
      compare(
          fmt::format("shm mapped {} {} KiB, {} in flight (memcpy)", op, size >> 10, kDepth).c_str(), rounds, "GB/s",
          [&] { return memcpyCeiling(other, local, size, kTotal); },
          [&] { return initiator.rate(Transport::kShm, opcode, target.allocated, size, kDepth, kTotal); }, true);
    }
    compare(
        fmt::format("shm copied {} 1 MiB, {} in flight (process_vm)", op, kDepth).c_str(), rounds, "GB/s",
        [&] { return crossProcessCeiling(target, local, 1u << 20, kTotal); },
        [&] { return initiator.rate(Transport::kShm, opcode, target.registered, 1u << 20, kDepth, kTotal); }, true);
    compare(
        fmt::format("shm mapped {} 4 KiB, median (memcpy)", op).c_str(), rounds, "us",
        [&] { return 4096.0 / memcpyCeiling(other, local, 4096, kTotal / 8) / 1e3; },
        [&] {
          return static_cast<double>(initiator.latency(Transport::kShm, opcode, target.allocated, 4096, kSamples)) /
                 1e3;
        },
        false);
  }
}

}  // namespace
}  // namespace tent

int main(int argc, char** argv) {
  using namespace tent;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) fail("no pipe");
  const pid_t child = fork();
  if (child < 0) fail("cannot fork");
  if (child == 0) runTarget(pipe_ends[1]);
  Target target;
  readAll(pipe_ends[0], &target, sizeof target);
  runInitiator(target, rounds);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 0;
}
