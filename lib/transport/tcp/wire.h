// What the two ends of a tcp link send each other. A stream opens with Hello and Welcome; then frames follow, requests
// one way and responses the other: a Head, its entries, and the payloads of the entries one after the other (of a
// request the bytes of its writes, of a response those of the reads that succeeded).
//
// Little endian, as the hosts are that this builds for. Thread safety: values and pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transport/tickets.h"
#include "transport/tls.h"

namespace tent::tcp {

static_assert(std::endian::native == std::endian::little);

inline constexpr uint32_t kMagic = 0x544e'4554;  // "TENT"
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kMaxEntries = 256;   // of a frame
inline constexpr uint32_t kMaxStreams = 16;  // of a link
// Of one transfer: no memory is larger, and sums of a frame cannot wrap.
inline constexpr uint64_t kMaxLength = uint64_t{1} << 48;

struct Hello {
  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  Ticket ticket{};
};
static_assert(sizeof(Hello) == 24);

struct Welcome {
  static constexpr uint32_t kAdmitted = 0;
  static constexpr uint32_t kRefused = 1;  // another version, or a ticket that was used, has expired, or never was
  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t status = kAdmitted;
  uint32_t reserved = 0;
};
static_assert(sizeof(Welcome) == 16);

struct Head {
  uint32_t magic = kMagic;
  uint32_t entries = 0;
  uint64_t payload_bytes = 0;
};
static_assert(sizeof(Head) == 16);

struct RequestEntry {
  static constexpr uint32_t kAnyRegion = 0;
  static constexpr uint32_t kRead = 0;
  static constexpr uint32_t kWrite = 1;
  uint64_t id = 0;
  uint64_t address = 0;
  uint64_t length = 0;
  uint32_t operation = kRead;
  uint32_t region = kAnyRegion;  // as RegionTable::use takes it
};
static_assert(sizeof(RequestEntry) == 32);

struct ResponseEntry {
  uint64_t id = 0;
  uint64_t payload_bytes = 0;
  uint32_t status = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(ResponseEntry) == 24);

// The reasons for which a target refuses a transfer, on the wire; done is kNone.
uint32_t statusOf(Reason reason);
std::optional<Reason> reasonOfStatus(uint32_t status);
std::string_view describeRefusal(Reason reason);

// What names the key of a target for its encrypted streams; only its holder gets to show a ticket.
inline constexpr const char* kTlsIdentity = "tent-tcp/1";

// The offer of a link: how many streams, and whether they are to be encrypted.
struct Offer {
  uint32_t streams = 1;
  bool encrypted = false;
};
std::string textOf(const Offer& offer);
std::optional<Offer> parseOffer(std::string_view text);

// The answer that lets a link in: the port, the key where the streams are to be encrypted, and a ticket for each.
struct Answer {
  uint16_t port = 0;
  std::optional<TlsKey> key;
  std::vector<Ticket> tickets;
};
std::string textOf(const Answer& answer);
std::optional<Answer> parseAnswer(std::string_view text);

}  // namespace tent::tcp
