// An engine in a process of its own, which peers reach as they reach any other.
//
// Thread safety: none. To be made while this process has one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <fcntl.h>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/fd.h"
#include "unit/engine/two_engines.h"

namespace tent {

class TargetProcess {
 public:
  static constexpr uint64_t kBytes = 1u << 20;

  // With memory that its engine allocated, filled with bytes of `seed`. `state_home`: where it finds its user's token.
  TargetProcess(const std::string& config, const std::string& state_home, uint64_t seed = 1) {
    std::array<int, 2> told{};
    std::array<int, 2> held{};
    REQUIRE(pipe2(told.data(), O_CLOEXEC) == 0);
    REQUIRE(pipe2(held.data(), O_CLOEXEC) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      close(held[1]);
      serve(config, state_home, seed, told[1], held[0]);
    }
    const Fd reader(told[0]);
    close(told[1]);
    close(held[0]);
    end_.reset(held[1]);
    std::array<char, 256> line{};
    REQUIRE(read(reader.get(), line.data(), line.size() - 1) > 0);
    const std::string text = line.data();
    address_ = text.substr(0, text.find(' '));
    base_ = std::stoull(text.substr(text.find(' ')));
  }
  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;
  ~TargetProcess() {
    end_.reset();
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  const std::string& address() const { return address_; }
  uint16_t port() const { return static_cast<uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1))); }
  uint64_t base() const { return base_; }

  // A request for as many bytes as `local` has, from the beginning of the target's memory.
  Request request(Opcode opcode, SegmentId segment, std::span<std::byte> local, Transport hint) const {
    Request request;
    request.fields.opcode = static_cast<int32_t>(opcode);
    request.fields.length = local.size();
    request.fields.target_offset = base_;
    request.fields.transport_hint = static_cast<int32_t>(hint);
    request.source = local.data();
    request.target = segment;
    return request;
  }

 private:
  [[noreturn]] static void serve(const std::string& config, const std::string& state_home, uint64_t seed, int told,
                                 int held) {
    setenv("XDG_STATE_HOME", state_home.c_str(), 1);
    auto engine = Engine::create(configOf(config));
    if (!engine) _exit(1);
    auto* memory = static_cast<std::byte*>((*engine)->allocateMemory(kBytes).value());
    fill(memory, kBytes, seed);
    // Every use of a region comes after the registering of this one, and so after these bytes. Nothing else would tell
    // the thread sanitizer: for each eight bytes that a thread of the engine sends it would look up that the race is
    // suppressed, which takes 20 s for all of them, in which the target answers nobody.
    static_cast<void>((*engine)->allocateMemory(1));
    const std::string line = (*engine)->address() + " " + std::to_string(reinterpret_cast<uintptr_t>(memory));
    if (write(told, line.data(), line.size()) < 0) _exit(1);
    char byte = 0;
    while (read(held, &byte, 1) > 0) {
    }
    engine->reset();
    _exit(0);
  }

  pid_t pid_ = 0;
  Fd end_;
  std::string address_;
  uint64_t base_ = 0;
};

}  // namespace tent
