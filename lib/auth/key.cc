#include "auth/key.h"

#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

namespace tent {

DerivedKey deriveKey(const Token& token, std::string_view purpose) {
  // As transport/tls.cc does: whoever uses OpenSSL first decides.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  std::string info(purpose);
  std::vector<unsigned char> bytes = token.bytes();  // OpenSSL takes it as writable, and a Token is not
  const std::array<OSSL_PARAM, 4> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, bytes.data(), bytes.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()), OSSL_PARAM_construct_end()};
  DerivedKey key{};
  const bool made = context != nullptr && EVP_KDF_derive(context.get(), key.data(), key.size(), parameters.data()) == 1;
  OPENSSL_cleanse(bytes.data(), bytes.size());
  if (!made) throw std::runtime_error("OpenSSL has no HKDF with SHA-256");
  return key;
}

}  // namespace tent
