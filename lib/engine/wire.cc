#include "engine/wire.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace tent {
namespace {

constexpr size_t kMaxTextBytes = 4096;

Error badMessage(std::string detail) {
  return errorOf(Reason::kIoError, "the peer's message makes no sense: " + std::move(detail));
}

std::string textAt(const Message& object, const char* key) {
  const Message* value = fieldAt(object, key);
  return value != nullptr && value->is_string() ? shorten(value->get_ref<const std::string&>(), kMaxTextBytes) : "";
}

}  // namespace

const Message* fieldAt(const Message& message, const char* key) {
  if (!message.is_object()) return nullptr;
  const auto it = message.find(key);
  return it == message.end() ? nullptr : &*it;
}

std::optional<uint64_t> unsignedAt(const Message& message, const char* key) {
  const Message* value = fieldAt(message, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<uint64_t>();
}

Message messageOf(const PeerBuffer& buffer) {
  Message keys = Message::object();
  for (const auto& [transport, region] : buffer.regions) keys[std::string(nameOf(transport))] = region.key;
  return {{"id", buffer.memory.id},
          {"base", buffer.memory.base},
          {"length", buffer.memory.length},
          {"location", toString(buffer.location)},
          {"writable", buffer.memory.access == Access::kReadWrite},
          {"shared", buffer.memory.shared},
          {"keys", std::move(keys)}};
}

std::optional<PeerBuffer> bufferOf(const Message& message) {
  PeerBuffer buffer;
  const auto id = unsignedAt(message, "id");
  const auto base = unsignedAt(message, "base");
  const auto length = unsignedAt(message, "length");
  const auto location = parseMemoryLocation(textAt(message, "location"));
  const Message* writable = fieldAt(message, "writable");
  const Message* shared = fieldAt(message, "shared");
  const Message* keys = fieldAt(message, "keys");
  if (!id || !base || !length || *length == 0 || *length > UINT64_MAX - *base || !location || keys == nullptr ||
      !keys->is_object() || writable == nullptr || !writable->is_boolean() || shared == nullptr ||
      !shared->is_boolean()) {
    return std::nullopt;
  }
  buffer.location = *location;
  buffer.memory = {*id, *base, *length, writable->get<bool>() ? Access::kReadWrite : Access::kRead, shared->get<bool>(),
                   ""};
  for (const auto& [name, key] : keys->items()) {
    const auto transport = valueOfName<Transport>(name);
    if (!transport || !key.is_string()) continue;  // one that this build does not know
    RemoteRegion region = buffer.memory;
    region.key = key.get<std::string>();
    buffer.regions.emplace(*transport, std::move(region));
  }
  return buffer;
}

const PeerBuffer* PeerDescription::find(uint64_t address, uint64_t length) const {
  auto after = buffers.upper_bound(address);
  if (after == buffers.begin()) return nullptr;
  const PeerBuffer& buffer = std::prev(after)->second;
  const uint64_t offset = address - buffer.memory.base;
  return offset < buffer.memory.length && length <= buffer.memory.length - offset ? &buffer : nullptr;
}

std::string frameOf(const Message& message) {
  // Names are checked when they come in; what is not UTF-8 all the same must not fail here.
  const std::string text = message.dump(-1, ' ', false, Message::error_handler_t::replace);
  std::string frame;
  frame.reserve(kFrameHeadBytes + text.size());
  for (size_t i = 0; i < kFrameHeadBytes; ++i) frame.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  return frame + text;
}

uint32_t lengthOfFrame(const unsigned char (&head)[kFrameHeadBytes]) {
  uint32_t length = 0;
  for (size_t i = 0; i < kFrameHeadBytes; ++i) length |= static_cast<uint32_t>(head[i]) << (8 * i);
  return length;
}

tl::expected<Message, Error> parseMessage(std::string_view text) {
  Message message = Message::parse(text, nullptr, false);
  if (!message.is_object()) return tl::unexpected(badMessage("it is no JSON object"));
  return message;
}

Message messageOf(const PeerDescription& description) {
  Message transports = Message::array();
  for (Transport transport : listOf(description.transports)) transports.push_back(std::string(nameOf(transport)));
  Message buffers = Message::array();
  for (const auto& [base, buffer] : description.buffers) buffers.push_back(messageOf(buffer));
  return {{"protocol", kProtocolVersion},     {"name", description.name},       {"host", description.host},
          {"instance", description.instance}, {"boot_id", description.boot_id}, {"transports", std::move(transports)},
          {"buffers", std::move(buffers)}};
}

tl::expected<PeerDescription, Error> descriptionOf(const Message& message) {
  const auto protocol = unsignedAt(message, "protocol");
  if (!protocol) return tl::unexpected(badMessage("it is no description of a segment"));
  if (*protocol != kProtocolVersion) {
    return tl::unexpected(
        badMessage(fmt::format("it speaks version {} of the protocol, this library {}", *protocol, kProtocolVersion)));
  }
  PeerDescription description;
  description.name = textAt(message, "name");
  description.host = textAt(message, "host");
  description.instance = instanceOf(message);
  description.boot_id = textAt(message, "boot_id");
  const Message* transports = fieldAt(message, "transports");
  const Message* buffers = fieldAt(message, "buffers");
  if (transports == nullptr || !transports->is_array() || buffers == nullptr || !buffers->is_array()) {
    return tl::unexpected(badMessage("it is no description of a segment"));
  }
  for (const Message& name : *transports) {
    const auto transport = name.is_string() ? valueOfName<Transport>(name.get<std::string>()) : std::nullopt;
    if (transport && *transport != Transport::kUnspec) description.transports.add(*transport);
  }
  for (const Message& item : *buffers) {
    std::optional<PeerBuffer> buffer = bufferOf(item);
    if (!buffer) return tl::unexpected(badMessage("one of its buffers is malformed"));
    description.buffers[buffer->memory.base] = std::move(*buffer);
  }
  return description;
}

uint64_t instanceOf(const Message& answer) {
  return unsignedAt(answer, "instance").value_or(0);
}

std::string answerIn(const Message& answer) {
  return textAt(answer, "answer");
}

Message errorMessage(const Error& error) {
  return {{"error", {{"reason", std::string(nameOf(error.reason))}, {"detail", error.detail}}}};
}

Error errorOf(const Message& answer) {
  const Message* error = fieldAt(answer, "error");
  if (error == nullptr) return {};
  const std::string name = textAt(*error, "reason");
  Error result = errorOf(Reason::kInternal, "the peer says: " + textAt(*error, "detail"));
  for (int i = 1; i < kReasonCount; ++i) {
    if (nameOf(static_cast<Reason>(i)) == name) result.reason = static_cast<Reason>(i);
  }
  return result;
}

}  // namespace tent
