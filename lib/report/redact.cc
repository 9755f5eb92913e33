#include "report/redact.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace tent {

std::string_view nameOf(Redaction level) {
  switch (level) {
    case Redaction::kDefault: return "default";
    case Redaction::kStrict: return "strict";
    case Redaction::kNone: return "none";
  }
  return "";
}

Redactor::Redactor(Redaction level) : level_(level) {
  if (level == Redaction::kStrict && RAND_bytes(salt_.data(), static_cast<int>(salt_.size())) != 1) {
    throw std::runtime_error("no randomness for the salt of --redact strict");
  }
}

Redactor::Digest Redactor::digest(std::string_view kind, std::string_view name) const {
  const std::string text = fmt::format("{}:{}", kind, name);
  std::array<unsigned char, EVP_MAX_MD_SIZE> full{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), salt_.data(), static_cast<int>(salt_.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), full.data(), &size);
  Digest digest;
  std::copy_n(full.begin(), digest.size(), digest.begin());
  return digest;
}

std::string Redactor::pseudonym(std::string_view kind, std::string_view name) const {
  if (level_ != Redaction::kStrict || name.empty()) return std::string(name);
  return fmt::format("{}-{:02x}", kind, fmt::join(digest(kind, name), ""));
}

std::string Redactor::matchedPolicy(std::string_view name) const {
  // A tenant's name may hold dots; what follows the last one never does.
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::string(name);
  return tenant(name.substr(0, dot)) + std::string(name.substr(dot));
}

GidAddress Redactor::gid(const GidAddress& address) const {
  const GidClass gid_class = classOf(address);
  if (level_ == Redaction::kNone || gid_class == GidClass::kNull) return address;
  // What is shown still has its class and family, so that a saved, redacted environment plans as the real one does.
  const bool ipv4 = familyOf(address) == AddressFamily::kIpv4;
  const bool link_local = gid_class == GidClass::kLinkLocal;
  GidAddress shown = address;
  if (level_ == Redaction::kDefault) {
    std::fill(shown.begin() + (ipv4 ? 15 : 8), shown.end(), uint8_t{0});
    if (link_local) shown.back() = 1;  // without any host bit it would be no address at all
    return shown;
  }
  // In strict a pseudonym takes the place of network and host: within the networks that are set aside for benchmarks
  // and documentation (RFC 2544, RFC 3849), or within the link-local one.
  const Digest hash = digest("gid", {reinterpret_cast<const char*>(address.data()), address.size()});
  if (ipv4) {
    if (!link_local) shown[12] = 198, shown[13] = 18;
    std::copy_n(hash.begin(), 2, shown.begin() + 14);
  } else {
    if (!link_local) shown = {0x20, 0x01, 0x0d, 0xb8};
    std::fill(shown.begin() + 8, shown.end(), uint8_t{0});
    std::copy(hash.begin(), hash.end(), shown.end() - static_cast<std::ptrdiff_t>(hash.size()));
  }
  return shown;
}

Environment Redactor::environment(const Environment& environment) const {
  Environment redacted = environment;
  for (HostInventory* host : {&redacted.local, &redacted.peer}) {
    for (Nic& nic : host->nics) {
      for (Gid& gid : nic.gids) gid.address = this->gid(gid.address);
    }
  }
  return redacted;
}

namespace {

// An address whose host bits are hidden, written so that nobody takes it for a real one; other words as they are.
std::string marked(std::string_view word) {
  if (word.ends_with(".0") && parseGid(fmt::format("::ffff:{}", word)))
    return std::string(word.substr(0, word.size() - 1)) + "x";
  if (word == "fe80::1" || (word.ends_with("::") && parseGid(word))) {
    return std::string(word.substr(0, word.rfind(':') + 1)) + "/64";
  }
  return std::string(word);
}

}  // namespace

std::string Redactor::sentence(std::string_view text, const Environment& environment) const {
  if (level_ == Redaction::kNone) return std::string(text);
  std::set<std::string_view> devices;
  for (const HostInventory* host : {&environment.local, &environment.peer}) {
    for (const Nic& nic : host->nics) devices.insert(nic.name);
  }
  constexpr std::string_view kWordBreaks = " ,;()";
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kWordBreaks), text.size());
    const std::string_view word = text.substr(0, end);
    if (level_ == Redaction::kDefault) {
      shown += marked(word);
    } else {
      shown += devices.contains(word) ? device(word) : std::string(word);
    }
    if (end < text.size()) shown += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

ErrorValue Redactor::value(const Error& error) const {
  if (level_ == Redaction::kStrict && error.field == Field::kPolicyName) return {};
  return error.value;
}

std::string Redactor::message(const Error& error) const {
  if (level_ != Redaction::kStrict) return messageOf(error);
  Error shown = error;
  if (const auto* name = std::get_if<std::string>(&error.value); name != nullptr && error.field == Field::kPolicyName) {
    shown.value = policy(*name);
  }
  // What only the place knew may name devices; of a plan without transport it names only reasons.
  if (error.reason != Reason::kNoTransport) shown.detail.clear();
  return messageOf(shown);
}

std::string Redactor::message(const Rejected& rejected) const {
  if (level_ != Redaction::kStrict) return messageOf(rejected);
  return messageOf(Rejected{rejected.backend, rejected.reason, {}});
}

}  // namespace tent
