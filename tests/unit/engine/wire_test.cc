#include "engine/wire.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace tent {
namespace {

PeerDescription exampleDescription() {
  PeerDescription description;
  description.name = "node-b";
  description.host = "host-b";
  description.instance = UINT64_MAX;
  description.boot_id = "boot";
  description.transports.add(Transport::kTcp);
  PeerBuffer buffer;
  buffer.memory = {7, 0xffff'ffff'0000'0000, 4096, Access::kRead, true, ""};
  RemoteRegion region = buffer.memory;
  region.key = "key";
  buffer.regions.emplace(Transport::kTcp, region);
  description.buffers.emplace(buffer.memory.base, buffer);
  return description;
}

Message throughWire(const Message& message) {
  const std::string frame = frameOf(message);
  unsigned char head[kFrameHeadBytes];
  std::copy_n(frame.begin(), kFrameHeadBytes, head);
  REQUIRE(lengthOfFrame(head) == frame.size() - kFrameHeadBytes);
  return *parseMessage(std::string_view(frame).substr(kFrameHeadBytes));
}

}  // namespace

TEST_CASE("a description comes through the wire as it was") {
  const auto description = descriptionOf(throughWire(messageOf(exampleDescription())));
  REQUIRE(description);
  CHECK(description->name == "node-b");
  CHECK(description->host == "host-b");
  CHECK(description->boot_id == "boot");
  CHECK(description->transports.has(Transport::kTcp));
  REQUIRE(description->buffers.size() == 1);
  const PeerBuffer& buffer = description->buffers.begin()->second;
  CHECK(buffer.memory.base == 0xffff'ffff'0000'0000);
  CHECK(buffer.memory.access == Access::kRead);
  CHECK(buffer.memory.shared);
  REQUIRE(buffer.regionFor(Transport::kTcp) != nullptr);
  CHECK(buffer.regionFor(Transport::kTcp)->key == "key");
  CHECK(buffer.regionFor(Transport::kShm) == nullptr);
}

TEST_CASE("a buffer is found only for ranges that lie wholly in it") {
  const PeerDescription description = exampleDescription();
  const uint64_t base = 0xffff'ffff'0000'0000;
  CHECK(description.find(base, 4096) != nullptr);
  CHECK(description.find(base + 4095, 1) != nullptr);
  CHECK(description.find(base + 1, 4096) == nullptr);
  CHECK(description.find(base + 4096, 1) == nullptr);
  CHECK(description.find(base - 1, 1) == nullptr);
  CHECK(description.find(base + 4000, UINT64_MAX) == nullptr);
  CHECK(description.find(0, 1) == nullptr);
}

TEST_CASE("what is no message, or no description, is an io_error") {
  for (const char* text : {"", "[", "[]", "1", "{\"a\":", "\xff"})
    CHECK(parseMessage(text).error().reason == Reason::kIoError);
  const Message whole = messageOf(exampleDescription());
  for (const auto& [key, value] : whole.items()) {
    if (key == "name" || key == "host" || key == "instance" || key == "boot_id") continue;
    CAPTURE(key);
    Message broken = whole;
    broken.erase(key);
    CHECK(descriptionOf(broken).error().reason == Reason::kIoError);
    broken[key] = "text";
    CHECK(descriptionOf(broken).error().reason == Reason::kIoError);
  }
  for (const auto& [key, value] : whole["buffers"][0].items()) {
    CAPTURE(key);
    Message broken = whole;
    broken["buffers"][0][key] = nullptr;
    if (key == "keys" || key == "id" || key == "base" || key == "length" || key == "location" || key == "writable" ||
        key == "shared") {
      CHECK(descriptionOf(broken).error().reason == Reason::kIoError);
    }
  }
  Message wrapping = whole;
  wrapping["buffers"][0]["length"] = UINT64_MAX;
  CHECK(descriptionOf(wrapping).error().reason == Reason::kIoError);
}

TEST_CASE("another version of the protocol is named") {
  Message message = messageOf(exampleDescription());
  message["protocol"] = kProtocolVersion + 1;
  const auto description = descriptionOf(message);
  REQUIRE_FALSE(description);
  CHECK(description.error().detail.find("version 2") != std::string::npos);
}

TEST_CASE("transports and keys that this build does not know are passed over") {
  Message message = messageOf(exampleDescription());
  message["transports"].push_back("warp");
  message["buffers"][0]["keys"]["warp"] = "x";
  message["later"] = true;
  const auto description = descriptionOf(message);
  REQUIRE(description);
  CHECK(description->buffers.begin()->second.regions.size() == 1);
}

TEST_CASE("an error comes through with its reason, and an unknown reason is internal") {
  const Error error = errorOf(Reason::kPermissionDenied, "no");
  const Error back = errorOf(throughWire(errorMessage(error)));
  CHECK(back.reason == Reason::kPermissionDenied);
  CHECK(back.detail == "the peer says: no");
  CHECK(errorOf(Message{{"error", {{"reason", "warp"}}}}).reason == Reason::kInternal);
  CHECK_FALSE(errorOf(Message{{"answer", "x"}}));
  CHECK(answerIn(Message{{"answer", 1}}).empty());
}

TEST_CASE("text that is not UTF-8 does not break a frame") {
  CHECK(throughWire(Message{{"name", "a\xff"}})["name"] == "a\xEF\xBF\xBD");
}

}  // namespace tent
