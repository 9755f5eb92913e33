#include "transport/tls.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/fd.h"

namespace tent {
namespace {

TlsKey keyOf(unsigned char seed) {
  TlsKey key{};
  key.fill(seed);
  return key;
}

struct Wire {
  Wire() {
    std::array<int, 2> fds{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()) == 0);
    client.reset(fds[0]);
    server.reset(fds[1]);
  }
  Fd client;
  Fd server;
};

bool over(TlsStatus status) {
  return status == TlsStatus::kDone || status == TlsStatus::kFailed || status == TlsStatus::kEnded;
}

// Both in turn, until both have come to an end or neither moves; one that has failed hangs up.
struct Handshake {
  Handshake(const TlsContext& client_context, const TlsContext& server_context)
      : client(client_context, wire.client.get()), server(server_context, wire.server.get()) {
    for (int turn = 0; turn < 20 && !(over(at_client) && over(at_server)); ++turn) {
      if (!over(at_client)) at_client = client.handshake();
      if (at_client == TlsStatus::kFailed) shutdown(wire.client.get(), SHUT_WR);
      if (!over(at_server)) at_server = server.handshake();
      if (at_server == TlsStatus::kFailed) shutdown(wire.server.get(), SHUT_WR);
    }
  }
  Wire wire;
  TlsSession client;
  TlsSession server;
  TlsStatus at_client = TlsStatus::kWantRead;
  TlsStatus at_server = TlsStatus::kWantRead;
};

const TlsContext kClient(TlsContext::Role::kClient, keyOf(1), "test/1");
const TlsContext kServer(TlsContext::Role::kServer, keyOf(1), "test/1");

// A plain OpenSSL end on a socket, for what our own would not do.
struct Foreign {
  Foreign(const SSL_METHOD* method, int socket, const std::function<void(SSL_CTX*)>& set_up)
      : context(SSL_CTX_new(method), SSL_CTX_free), session(nullptr, SSL_free) {
    set_up(context.get());
    session.reset(SSL_new(context.get()));
    SSL_set_fd(session.get(), socket);
  }
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context;
  std::unique_ptr<SSL, decltype(&SSL_free)> session;
};

// What the server says to these bytes before it hangs up or waits for more.
std::string answerTo(const std::string& bytes, TlsStatus& status) {
  const Wire wire;
  TlsSession server(kServer, wire.server.get());
  REQUIRE(::send(wire.client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  status = server.handshake();
  std::string answer(4096, '\0');
  const ssize_t got = ::recv(wire.client.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  answer.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return answer;
}

// The first flight of a client.
std::string helloOf(const TlsContext& context) {
  const Wire wire;
  TlsSession client(context, wire.client.get());
  CHECK(client.handshake() == TlsStatus::kWantRead);
  std::string hello(4096, '\0');
  hello.resize(static_cast<size_t>(::recv(wire.server.get(), hello.data(), hello.size(), 0)));
  return hello;
}

}  // namespace

TEST_CASE("ends that know the same key understand each other, both ways") {
  Handshake pair(kClient, kServer);
  REQUIRE(pair.at_client == TlsStatus::kDone);
  REQUIRE(pair.at_server == TlsStatus::kDone);
  std::string sent(100'000, 'x');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7);
  std::string received;
  size_t at = 0;
  while (received.size() < sent.size()) {
    if (at < sent.size()) at += pair.client.write(sent.data() + at, sent.size() - at).bytes;
    std::array<char, 5000> piece{};
    received.append(piece.data(), pair.server.read(piece.data(), piece.size()).bytes);
    REQUIRE(std::equal(received.begin(), received.end(), sent.begin()));
  }
  CHECK(pair.server.write("back", 4).bytes == 4);
  std::array<char, 8> back{};
  CHECK(pair.client.read(back.data(), back.size()).bytes == 4);
  CHECK(std::string(back.data()) == "back");
  CHECK(pair.client.read(back.data(), back.size()).status == TlsStatus::kWantRead);
}

TEST_CASE("no key encrypts more than it may, and its change is not noticed") {
  Handshake pair(kClient, kServer);
  std::array<char, 4096> received{};
  size_t came = 0;
  for (uint64_t i = 0; i < TlsSession::kRecordsPerKey + 100; ++i) {
    while (pair.client.write("x", 1).status == TlsStatus::kWantWrite) {
      came += pair.server.read(received.data(), received.size()).bytes;
    }
    came += pair.server.read(received.data(), received.size()).bytes;
  }
  CHECK(came == TlsSession::kRecordsPerKey + 100);
}

TEST_CASE("what is on the wire is not what is sent, and differs for the same bytes each time") {
  const auto on_wire = [] {
    Handshake pair(kClient, kServer);
    const std::string secret = "segment name, address, key";
    REQUIRE(pair.client.write(secret.data(), secret.size()).bytes == secret.size());
    std::string seen(4096, '\0');
    seen.resize(static_cast<size_t>(::recv(pair.wire.server.get(), seen.data(), seen.size(), 0)));
    CHECK(seen.find("segment") == std::string::npos);
    return seen;
  };
  CHECK(on_wire() != on_wire());
}

TEST_CASE("ends with other keys refuse each other, and both know why") {
  const TlsContext other(TlsContext::Role::kClient, keyOf(2), "test/1");
  Handshake pair(other, kServer);
  CHECK(pair.at_server == TlsStatus::kFailed);
  CHECK(pair.at_client == TlsStatus::kFailed);
  CHECK(pair.server.failure() == TlsFailure::kRefused);
  CHECK(pair.client.failure() == TlsFailure::kRefused);
  // It stays so.
  CHECK(pair.server.handshake() == TlsStatus::kFailed);
}

TEST_CASE("ends that speak another version of what is inside refuse each other") {
  const TlsContext other(TlsContext::Role::kClient, keyOf(1), "test/2");
  Handshake pair(other, kServer);
  CHECK(pair.at_server == TlsStatus::kFailed);
  CHECK(pair.at_client == TlsStatus::kFailed);
  CHECK(pair.client.failure() == TlsFailure::kRefused);
}

TEST_CASE("a client does not complete with a server that shows a certificate instead") {
  const Wire wire;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  REQUIRE(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  Foreign server(TLS_server_method(), wire.server.get(), [&](SSL_CTX* context) {
    REQUIRE(SSL_CTX_use_certificate(context, certificate.get()) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context, key.get()) == 1);
  });
  TlsSession client(kClient, wire.client.get());
  TlsStatus status = client.handshake();
  for (int turn = 0; turn < 10 && !over(status); ++turn) {
    SSL_accept(server.session.get());
    status = client.handshake();
  }
  CHECK(status == TlsStatus::kFailed);
  CHECK(client.failure() == TlsFailure::kRefused);
}

TEST_CASE("a client without the key, or of TLS 1.2, gets an alert and nothing else") {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    const Wire wire;
    Foreign client(TLS_client_method(), wire.client.get(), [&](SSL_CTX* context) {
      SSL_CTX_set_min_proto_version(context, version);
      SSL_CTX_set_max_proto_version(context, version);
    });
    SSL_connect(client.session.get());
    TlsSession server(kServer, wire.server.get());
    CHECK(server.handshake() == TlsStatus::kFailed);
    std::array<unsigned char, 64> answer{};
    REQUIRE(::recv(wire.client.get(), answer.data(), answer.size(), 0) == 7);
    CHECK(answer[0] == 0x15);  // an alert
    CHECK(answer[4] == 2);
    CHECK(answer[5] == 2);  // fatal
  }
}

TEST_CASE("no early data is offered, and no ticket is given for a later connection") {
  const std::string hello = helloOf(kClient);
  const auto has_extension = [&](unsigned char high, unsigned char low) {
    // Walks the ClientHello: record and handshake heads, version, random, session id, suites, compression.
    size_t at = 5 + 4 + 2 + 32;
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(hello.at(i))); };
    at += 1 + byte(at);
    at += 2 + (byte(at) << 8 | byte(at + 1));
    at += 1 + byte(at);
    for (at += 2; at + 4 <= hello.size(); at += 4 + (byte(at + 2) << 8 | byte(at + 3))) {
      if (byte(at) == high && byte(at + 1) == low) return true;
    }
    return false;
  };
  CHECK(has_extension(0, 41));        // pre_shared_key
  CHECK(has_extension(0, 51));        // key_share: with a key exchange of its own
  CHECK_FALSE(has_extension(0, 42));  // early_data
  CHECK_FALSE(has_extension(0, 35));  // session_ticket
  Handshake pair(kClient, kServer);
  REQUIRE(pair.at_server == TlsStatus::kDone);
  std::array<char, 1> byte{};
  CHECK(pair.client.read(byte.data(), 1).status == TlsStatus::kWantRead);
  CHECK(::recv(pair.wire.client.get(), byte.data(), 1, MSG_DONTWAIT) < 0);  // nothing more has come
}

TEST_CASE("the first flight of another connection, played again, does not get in") {
  const std::string hello = helloOf(kClient);
  TlsStatus status{};
  CHECK(answerTo(hello, status).size() > 7);  // a handshake begins, and waits for what only a new client can know
  CHECK(status == TlsStatus::kWantRead);
}

TEST_CASE("nonsense is told apart from a key that differs, at once and without a word") {
  TlsStatus status{};
  CHECK(answerTo("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", status).empty());
  CHECK(status == TlsStatus::kFailed);
  CHECK(answerTo(std::string("\x13\0\0\0{\"type\":\"describe\"}", 23), status).empty());
  CHECK(status == TlsStatus::kFailed);
  // Half a ClientHello is waited for; how long is the business of who owns the socket.
  const std::string hello = helloOf(kClient);
  for (const size_t length : {1u, 4u, 5u, 100u}) {
    CHECK(answerTo(hello.substr(0, length), status).empty());
    CHECK(status == TlsStatus::kWantRead);
  }
  for (size_t at = 0; at < hello.size(); at += 3) {
    std::string damaged = hello;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    CHECK(answerTo(damaged, status).size() < 1000);
    CHECK(status != TlsStatus::kDone);
  }
}

TEST_CASE("the end of the other end is told from its failure") {
  {
    Wire wire;
    TlsSession client(kClient, wire.client.get());
    CHECK(client.handshake() == TlsStatus::kWantRead);
    wire.server.reset();
    CHECK(client.handshake() == TlsStatus::kEnded);
  }
  Handshake pair(kClient, kServer);
  pair.wire.client.reset();
  std::array<char, 1> byte{};
  CHECK(pair.server.read(byte.data(), 1).status == TlsStatus::kEnded);
}

TEST_CASE("records are told from frames by their first bytes") {
  CHECK(TlsSession::isRecord({0x16, 3, 1, 1, 0}));
  CHECK(TlsSession::isRecord({0x15, 3, 3, 0, 2}));
  CHECK_FALSE(TlsSession::isRecord({0x16, 3, 1, 0, '{'}));
  CHECK_FALSE(TlsSession::isRecord({0x20, 0, 0, 0, '{'}));
}

}  // namespace tent
