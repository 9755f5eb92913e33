#include "conformance/backends.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "transport/fake/fake_backend.h"
#include "transport/shm/shm_backend.h"
#include "transport/tcp/tcp_backend.h"

namespace tent::conformance {
namespace {

tl::expected<std::unique_ptr<Backend>, Error> make(std::string_view suite, Loop& loop, const Limits& limits) {
  if (suite == kTcp.suite || suite == kTcpEncrypted.suite) {
    TcpOptions options;
    options.streams = 2;
    options.encrypt = suite == kTcpEncrypted.suite;
    options.stall_timeout_ns = limits.stall_ns;
    options.connect_timeout_ns = limits.connect_ns;
    return makeTcpBackend(loop, options);
  }
  if (suite == "fake") {
    FakeOptions options;
    options.stall_timeout_ns = limits.stall_ns;
    return makeFakeBackend(options);
  }
  ShmOptions options;
  options.connect_timeout_ns = limits.connect_ns;
  return makeShmBackend(loop, options);
}

}  // namespace

std::unique_ptr<Backend> makeBackend(std::string_view suite, Loop& loop, const Limits& limits) {
  auto backend = make(suite, loop, limits);
  if (backend) return std::move(*backend);
  fmt::print(stderr, "{}: no backend: {}\n", suite, messageOf(backend.error()));
  std::exit(1);
}

std::string hexOf(std::string_view bytes) {
  if (bytes.empty()) return "-";
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string fromHex(std::string_view text) {
  std::string bytes;
  if (text == "-") return bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace tent::conformance
