#include "engine/staging_messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tent {
namespace {

tl::unexpected<Error> senseless(const char* what) {
  return tl::unexpected(errorOf(Reason::kIoError, fmt::format("{} makes no sense", what)));
}

std::optional<bool> booleanAt(const Message& message, const char* key) {
  const Message* value = fieldAt(message, key);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

}  // namespace

Message messageOf(const StageOpen& open) {
  return {{"type", "stage_open"}, {"chunk", open.chunk_bytes}, {"wanted", open.wanted}};
}

Message messageOf(const LentBuffers& lent) {
  return {{"lease", lent.lease}, {"count", lent.count}, {"buffer", messageOf(lent.buffer)}};
}

Message messageOf(const StageCopy& copy) {
  return {{"type", "stage_copy"},    {"lease", copy.lease},   {"offset", copy.offset},
          {"address", copy.address}, {"length", copy.length}, {"write", copy.direction == Direction::kWrite}};
}

Message stageCopied(uint64_t bytes, bool wanted_back) {
  return {{"copied", bytes}, {"wanted_back", wanted_back}};
}

Message stageClose(uint64_t lease) {
  return {{"type", "stage_close"}, {"lease", lease}};
}

tl::expected<StageOpen, Error> stageOpenOf(const Message& request) {
  const auto chunk = unsignedAt(request, "chunk");
  const auto wanted = unsignedAt(request, "wanted");
  if (!chunk || *chunk == 0 || !wanted || *wanted == 0) return senseless("stage_open");
  return StageOpen{*chunk, *wanted};
}

tl::expected<StageCopy, Error> stageCopyOf(const Message& request) {
  const auto lease = unsignedAt(request, "lease");
  const auto offset = unsignedAt(request, "offset");
  const auto address = unsignedAt(request, "address");
  const auto length = unsignedAt(request, "length");
  const auto write = booleanAt(request, "write");
  if (!lease || !offset || !address || !length || *length == 0 || !write) return senseless("stage_copy");
  return StageCopy{*lease, *offset, *address, *length, *write ? Direction::kWrite : Direction::kRead};
}

tl::expected<LentBuffers, Error> lentBuffersOf(const Message& answer, const StageOpen& asked) {
  const auto lease = unsignedAt(answer, "lease");
  const auto count = unsignedAt(answer, "count");
  const Message* described = fieldAt(answer, "buffer");
  std::optional<PeerBuffer> buffer = described == nullptr ? std::nullopt : bufferOf(*described);
  if (!lease || !count || *count == 0 || *count > asked.wanted || !buffer ||
      *count > buffer->memory.length / asked.chunk_bytes) {
    return senseless("what the peer says about its staging buffers");
  }
  return LentBuffers{*lease, *count, *std::move(buffer)};
}

tl::expected<bool, Error> wantedBackIn(const Message& answer, const StageCopy& asked) {
  const auto wanted_back = booleanAt(answer, "wanted_back");
  if (unsignedAt(answer, "copied") != asked.length || !wanted_back) {
    return senseless("what the peer says about a staging copy");
  }
  return *wanted_back;
}

}  // namespace tent
