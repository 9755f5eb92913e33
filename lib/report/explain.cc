#include "report/explain.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "intent/entry.h"

namespace tent {
namespace {

using Layout = EntryV1Layout;

template <typename T>
void put(std::vector<std::byte>& bytes, size_t at, size_t offset, const T& value) {
  if (at + offset + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at + offset, &value, sizeof value);
}

// The entry that a C program would pass for this vector, at `claim.misalign` bytes past an aligned address.
std::vector<std::byte> encodeEntry(const Vector& vector, const EntryClaim& claim, size_t bytes_needed) {
  std::vector<std::byte> bytes(claim.misalign + bytes_needed);
  const RequestFields& fields = vector.fields;
  const void* source = &vector;  // any address that is not NULL; nothing reads through it
  const char* policy_name = vector.policy_name ? vector.policy_name->c_str() : nullptr;
  const size_t at = claim.misalign;
  put(bytes, at, Layout::kStructSize, claim.struct_size);
  put(bytes, at, Layout::kSchemaVersion, claim.entry_schema_version);
  put(bytes, at, Layout::kOpcode, fields.opcode);
  put(bytes, at, Layout::kReservedOpcode, claim.reserved_opcode);
  put(bytes, at, Layout::kSource, source);
  put(bytes, at, Layout::kTargetOffset, fields.target_offset);
  put(bytes, at, Layout::kLength, fields.length);
  put(bytes, at, Layout::kIntentType, fields.intent_type);
  put(bytes, at, Layout::kRequestedPriority, fields.priority);
  put(bytes, at, Layout::kDeadlineNs, fields.deadline.ns);
  put(bytes, at, Layout::kPolicyName, policy_name);
  put(bytes, at, Layout::kTransportHint, fields.transport_hint);
  put(bytes, at, Layout::kReserved0, claim.reserved0);
  put(bytes, at, Layout::kFlags, fields.flags);
  const size_t tail_at = at + Layout::kKnownSize;
  if (tail_at < bytes.size()) {
    std::memcpy(bytes.data() + tail_at, claim.tail.data(), std::min(claim.tail.size(), bytes.size() - tail_at));
  }
  return bytes;
}

// Reads the vector as a C entry of schema 1 is read.
Error readAsEntry(const Vector& vector, RequestFields& out) {
  const EntryClaim claim = vector.layout.value_or(EntryClaim{});
  // Strides that are refused are never walked, so no more than the largest acceptable one is needed.
  const size_t stride = static_cast<size_t>(std::min<uint64_t>(claim.entry_stride, kEntryStrideMax + 1));
  const std::vector<std::byte> bytes = encodeEntry(vector, claim, std::max(stride, Layout::kKnownSize));
  const std::byte* entry = bytes.data() + claim.misalign;

  if (Error error = checkEntries(entry, 1, claim.entry_stride, claim.schema_version)) return error;
  EntryV1 decoded;
  if (Error error = decodeEntryV1(entry, claim.entry_stride, claim.schema_version, decoded)) return error;
  out = decoded.fields;
  // A file may say two things that a C entry cannot: a budget, and a name with a NUL byte in it.
  if (claim.struct_size >= Layout::kDeadlineNs + sizeof(uint64_t)) out.deadline = vector.fields.deadline;
  if (out.policy_name && out.policy_name->size() < vector.policy_name->size()) out.policy_name = *vector.policy_name;
  return {};
}

template <typename T>
T choose(const std::optional<T>& vector, const std::optional<T>& option, const std::optional<T>& header,
         const std::optional<T>& configuration, const T& absent, SettingSource& source) {
  if (vector) return source = SettingSource::kVector, *vector;
  if (option) return source = SettingSource::kOption, *option;
  if (header) return source = SettingSource::kFile, *header;
  if (configuration) return source = SettingSource::kConfiguration, *configuration;
  return source = SettingSource::kDefault, absent;
}

PolicyName chooseTenant(const Vector& vector, const VectorHeader& header, const std::optional<PolicyName>& option,
                        const EngineConfig& config, SettingSource& source) {
  return choose(vector.tenant, option, header.tenant, config.tenant, PolicyName("default"), source);
}

}  // namespace

std::string_view describe(SettingSource source) {
  switch (source) {
    case SettingSource::kVector: return "of the vector";
    case SettingSource::kOption: return "of the command line";
    case SettingSource::kFile: return "of the file's header";
    case SettingSource::kConfiguration: return "of the configuration";
    case SettingSource::kDefault: return "by default";
  }
  return "";
}

Error requestFieldsOf(const Vector& vector, RequestFields& fields) {
  if (vector.surface == Surface::kV1) return readAsEntry(vector, fields);
  fields = vector.fields;
  fields.surface = vector.surface;
  if (vector.policy_name) fields.policy_name = *vector.policy_name;
  return {};
}

PolicyName tenantOf(const Vector& vector, const VectorHeader& header, const std::optional<PolicyName>& option,
                    const EngineConfig& config) {
  SettingSource source = SettingSource::kDefault;
  return chooseTenant(vector, header, option, config, source);
}

Result explain(const Vector& vector, const VectorHeader& header, const ExplainContext& context) {
  Result result;
  result.name = vector.name;
  result.index = vector.index;
  result.mode = choose(vector.mode, context.option_mode, header.mode, context.config.validation_mode,
                       ValidationMode::kStrict, result.mode_source);
  const PolicyName tenant = chooseTenant(vector, header, context.option_tenant, context.config, result.tenant_source);
  result.shape.segment_type = vector.target_type;
  result.shape.local_memory = vector.source_memory;
  result.shape.remote_memory = vector.target_memory;

  RequestFields fields;
  if (Error error = requestFieldsOf(vector, fields)) {
    result.decision.requested.surface = vector.surface;
    result.decision.error = std::move(error);
  } else {
    const uint64_t now_ns = context.option_now_ns.value_or(header.now_ns.value_or(context.live_now_ns));
    const DecisionContext against{context.config.policies, context.config.plan, context.environment};
    result.decision = decide(fields, result.shape, tenant, result.mode, now_ns, against);
  }
  if (result.decision.error) result.decision.error.index = static_cast<int64_t>(vector.index);
  return result;
}

}  // namespace tent
