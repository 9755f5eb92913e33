// TLS 1.3 between two ends that share a key, over a connected socket that does not block: no certificates, no tickets,
// no early data, no version below. Knowing the key is what authenticates, both ways: neither end completes a handshake
// with one that has not proved it. Each connection agrees on keys of its own (psk_dhe_ke), so that what was recorded
// stays unreadable when the key becomes known later.
//
// A session makes no thread and no descriptor; it says when to wait for the socket. Whatever the other end sends costs
// at most some hundred KiB and no time beyond that of a handshake.
//
// Invariants
//  1. No byte of the application is sent or delivered before the handshake is done.
//  2. Keys are overwritten when what holds them is destroyed.
//
// Thread safety: a context may be used by any threads at once; a session by one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct ssl_st;
struct ssl_ctx_st;

namespace tent {

using TlsKey = std::array<unsigned char, 32>;

class TlsContext {
 public:
  enum class Role : uint8_t { kClient, kServer };

  // `identity` names the key and the protocol that is spoken inside. It is seen by everybody on the way; ends with
  // different ones refuse each other. Throws std::runtime_error when OpenSSL lacks what it needs.
  TlsContext(Role role, const TlsKey& key, std::string identity);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  Role role() const { return role_; }

 private:
  friend class TlsSession;
  friend struct TlsCallbacks;

  const Role role_;
  TlsKey key_;
  const std::string identity_;
  ssl_ctx_st* context_ = nullptr;
};

enum class TlsStatus : uint8_t {
  kDone,
  kWantRead,   // again, once the socket is readable
  kWantWrite,  // again with the same bytes, once the socket is writable
  kEnded,      // the other end has closed the connection
  kFailed,     // see failure()
};

// Why a handshake or a session has failed, as far as this end can tell.
enum class TlsFailure : uint8_t {
  kNone,
  kRefused,  // the other end knows another key, or speaks another version of what is inside
  kNotTls,   // the other end does not speak TLS
  kBroken,   // nonsense, a failed integrity check, or an error of the socket
};

struct TlsMoved {
  TlsStatus status = TlsStatus::kDone;
  size_t bytes = 0;
};

class TlsSession {
 public:
  // A refusal in TLS's own words for one who does not speak it: what a server sends then.
  static constexpr std::array<unsigned char, 7> kAlert{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46};
  static constexpr size_t kRecordHeadBytes = 5;
  // Written with one key; then this end goes on with the next. RFC 8446 (5.5) allows 24 million.
  static constexpr uint64_t kRecordsPerKey = 1u << 18;
  // Whether what has come looks like a record of TLS, which is no beginning of a JSON object behind a length.
  static bool isRecord(const std::array<unsigned char, kRecordHeadBytes>& head);

  // Takes neither; both outlive it.
  TlsSession(const TlsContext& context, int socket);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();

  TlsStatus handshake();
  // kDone: at least one byte was moved.
  TlsMoved read(void* into, size_t bytes);
  TlsMoved write(const void* from, size_t bytes);

  TlsFailure failure() const { return failure_; }

 private:
  friend struct TlsCallbacks;

  TlsStatus statusOf(int result);

  ssl_st* session_ = nullptr;
  const int socket_;
  bool ended_ = false;    // the socket said so
  uint64_t records_ = 0;  // written with the present key
  TlsFailure failure_ = TlsFailure::kNone;
};

}  // namespace tent
