#include "transport/tls.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "transport/sockets.h"

namespace tent {
namespace {

constexpr std::array<unsigned char, 2> kSuite{0x13, 0x01};  // TLS_AES_128_GCM_SHA256, whose hash the keys are for
constexpr const char* kSuiteName = "TLS_AES_128_GCM_SHA256";
constexpr const char* kGroups = "X25519:P-256";

[[noreturn]] void lacking(const char* what) {
  ERR_clear_error();
  throw std::runtime_error(std::string("OpenSSL: ") + what + " failed");
}

TlsFailure failureOf(unsigned long error) {
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return TlsFailure::kBroken;
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST: return TlsFailure::kNotTls;
    // What this end finds ...
    case SSL_R_BINDER_DOES_NOT_VERIFY:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
    // ... and what the other end says that it has found.
    case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: return TlsFailure::kRefused;
    default: return TlsFailure::kBroken;
  }
}

}  // namespace

// What OpenSSL calls. In one place because it reaches into both classes.
struct TlsCallbacks {
  static const TlsContext& contextOf(SSL* ssl) {
    return *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  }

  static SSL_SESSION* sessionOf(SSL* ssl) {
    SSL_SESSION* session = SSL_SESSION_new();
    const SSL_CIPHER* suite = SSL_CIPHER_find(ssl, kSuite.data());
    const TlsKey& key = contextOf(ssl).key_;
    if (session == nullptr || suite == nullptr || SSL_SESSION_set1_master_key(session, key.data(), key.size()) != 1 ||
        SSL_SESSION_set_cipher(session, suite) != 1 || SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
      SSL_SESSION_free(session);
      return nullptr;
    }
    return session;
  }

  static int useSession(SSL* ssl, const EVP_MD* /*digest*/, const unsigned char** identity, size_t* length,
                        SSL_SESSION** session) {
    *session = sessionOf(ssl);
    *identity = reinterpret_cast<const unsigned char*>(contextOf(ssl).identity_.data());
    *length = contextOf(ssl).identity_.size();
    return *session != nullptr ? 1 : 0;
  }

  // Without a session the handshake goes on to look for a certificate, finds none, and fails.
  static int findSession(SSL* ssl, const unsigned char* identity, size_t length, SSL_SESSION** session) {
    const std::string& own = contextOf(ssl).identity_;
    const bool known = length == own.size() && std::memcmp(identity, own.data(), length) == 0;
    *session = known ? sessionOf(ssl) : nullptr;
    return 1;
  }

  // OpenSSL's own socket BIO raises SIGPIPE, which is the application's.
  static int send(BIO* bio, const char* bytes, int count) {
    BIO_clear_retry_flags(bio);
    const auto* session = static_cast<const TlsSession*>(BIO_get_data(bio));
    const ssize_t sent = sendSome(session->socket_, bytes, static_cast<size_t>(count));
    if (sent < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
  }

  static int receive(BIO* bio, char* into, int count) {
    BIO_clear_retry_flags(bio);
    auto* session = static_cast<TlsSession*>(BIO_get_data(bio));
    const ssize_t received = receiveSome(session->socket_, into, static_cast<size_t>(count));
    if (received < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
    session->ended_ = session->ended_ || received == 0 || (received < 0 && errno == ECONNRESET);
    return static_cast<int>(received);
  }

  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* method() {
    static const BIO_METHOD* const kMethod = [] {
      BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tent socket");
      if (method == nullptr) lacking("BIO_meth_new");
      BIO_meth_set_write(method, send);
      BIO_meth_set_read(method, receive);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    return kMethod;
  }
};

// ---- context

TlsContext::TlsContext(Role role, const TlsKey& key, std::string identity)
    : role_(role), key_(key), identity_(std::move(identity)) {
  // Threads of engines that are not destroyed run on while the process ends; OpenSSL must not be taken from under them.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  context_ = SSL_CTX_new(role == Role::kClient ? TLS_client_method() : TLS_server_method());
  if (context_ == nullptr) lacking("SSL_CTX_new");
  SSL_CTX_set_app_data(context_, this);
  SSL_CTX_set_options(context_, SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context_,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  // A server that does not use the key could only show a certificate, and there is none that a client trusts.
  if (role == Role::kClient) SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_use_session_callback(context_, TlsCallbacks::useSession);
  SSL_CTX_set_psk_find_session_callback(context_, TlsCallbacks::findSession);
  if (SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context_, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context_, kSuiteName) != 1 || SSL_CTX_set1_groups_list(context_, kGroups) != 1 ||
      SSL_CTX_set_num_tickets(context_, 0) != 1 || SSL_CTX_set_max_early_data(context_, 0) != 1) {
    SSL_CTX_free(context_);
    OPENSSL_cleanse(key_.data(), key_.size());
    lacking("setting up TLS 1.3");
  }
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
  OPENSSL_cleanse(key_.data(), key_.size());
}

// ---- session

bool TlsSession::isRecord(const std::array<unsigned char, kRecordHeadBytes>& head) {
  return (head[0] == 0x15 || head[0] == 0x16) && head[1] == 0x03 && head[2] <= 0x04 && head[4] != '{';
}

TlsSession::TlsSession(const TlsContext& context, int socket) : socket_(socket) {
  session_ = SSL_new(context.context_);
  BIO* bio = BIO_new(TlsCallbacks::method());
  if (session_ == nullptr || bio == nullptr) {
    SSL_free(session_);
    BIO_free(bio);
    lacking("SSL_new");
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(session_, bio, bio);
  context.role_ == TlsContext::Role::kClient ? SSL_set_connect_state(session_) : SSL_set_accept_state(session_);
}

TlsSession::~TlsSession() {
  SSL_free(session_);
}

TlsStatus TlsSession::statusOf(int result) {
  switch (SSL_get_error(session_, result)) {
    case SSL_ERROR_NONE: return TlsStatus::kDone;
    case SSL_ERROR_WANT_READ: return TlsStatus::kWantRead;
    case SSL_ERROR_WANT_WRITE: return TlsStatus::kWantWrite;
    case SSL_ERROR_ZERO_RETURN: return TlsStatus::kEnded;
    default: break;
  }
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  if (ended_ && (error == 0 || ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING)) return TlsStatus::kEnded;
  failure_ = error == 0 ? TlsFailure::kBroken : failureOf(error);
  return TlsStatus::kFailed;
}

TlsStatus TlsSession::handshake() {
  if (failure_ != TlsFailure::kNone) return TlsStatus::kFailed;
  ERR_clear_error();
  const TlsStatus status = statusOf(SSL_do_handshake(session_));
  if (status != TlsStatus::kDone) return status;
  // With another method than the key neither end gets here; should one ever do, it is no peer.
  if (SSL_session_reused(session_) == 1 && SSL_version(session_) == TLS1_3_VERSION) return status;
  failure_ = TlsFailure::kRefused;
  return TlsStatus::kFailed;
}

TlsMoved TlsSession::read(void* into, size_t bytes) {
  TlsMoved moved;
  ERR_clear_error();
  const int result = SSL_read_ex(session_, into, bytes, &moved.bytes);
  if (result != 1) moved.status = statusOf(result);
  return moved;
}

TlsMoved TlsSession::write(const void* from, size_t bytes) {
  TlsMoved moved;
  // Not in the middle of a record; then it is for the next time.
  if (records_ >= kRecordsPerKey && SSL_key_update(session_, SSL_KEY_UPDATE_NOT_REQUESTED) == 1) records_ = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(session_, from, bytes, &moved.bytes);
  if (result != 1) moved.status = statusOf(result);
  if (result == 1) records_ += (moved.bytes + SSL3_RT_MAX_PLAIN_LENGTH - 1) / SSL3_RT_MAX_PLAIN_LENGTH;
  return moved;
}

}  // namespace tent
