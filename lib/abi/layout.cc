// The layouts and numbers of the C header, as the library and its callers must agree on them. Nothing here may change
// once it has been released; what is new comes behind.
#include <cstddef>
#include <type_traits>

#include "abi/result.h"
#include "engine/engine.h"
#include "intent/entry.h"
#include "intent/request.h"
#include "intent/values.h"
#include "tent/transfer_engine.h"

namespace tent::abi {
namespace {

constexpr bool kLp64 = sizeof(void*) == 8;
using Layout = EntryV1Layout;

#define SAME_OFFSET(member, constant) static_assert(offsetof(tent_request_v1, member) == Layout::constant)
SAME_OFFSET(struct_size, kStructSize);
SAME_OFFSET(schema_version, kSchemaVersion);
SAME_OFFSET(opcode, kOpcode);
SAME_OFFSET(reserved_opcode, kReservedOpcode);
SAME_OFFSET(source, kSource);
SAME_OFFSET(target_id, kTargetId);
SAME_OFFSET(target_offset, kTargetOffset);
SAME_OFFSET(length, kLength);
SAME_OFFSET(intent_type, kIntentType);
SAME_OFFSET(requested_priority, kRequestedPriority);
SAME_OFFSET(deadline_ns, kDeadlineNs);
SAME_OFFSET(policy_name, kPolicyName);
SAME_OFFSET(transport_hint, kTransportHint);
SAME_OFFSET(reserved0, kReserved0);
SAME_OFFSET(flags, kFlags);
#undef SAME_OFFSET
static_assert(sizeof(tent_request_v1) == Layout::kKnownSize);
static_assert(alignof(tent_request_v1) == Layout::kAlignment);

static_assert(!kLp64 || sizeof(tent_request) == 48);
static_assert(!kLp64 || sizeof(tent_status) == 16);
static_assert(!kLp64 || sizeof(tent_buffer_info) == 80);
static_assert(!kLp64 || sizeof(tent_segment_info) == 16);
static_assert(!kLp64 || sizeof(tent_notifi_record) == 4360);
static_assert(!kLp64 || sizeof(tent_notifi_info) == 16);
static_assert(!kLp64 || sizeof(tent_memory_options) == 344);
static_assert(!kLp64 || sizeof(tent_nic_load_stat) == 80);
static_assert(!kLp64 || sizeof(tent_result) == 568);
static_assert(!kLp64 || sizeof(tent_submit_options) == 24);
static_assert(!kLp64 || sizeof(tent_explain_options) == 32);
static_assert(sizeof(tent_downgrade) == 24);
static_assert(!kLp64 || sizeof(tent_normalized_intent) == 392);

template <typename Enum>
constexpr bool equals(Enum value, int number) {
  return static_cast<int>(value) == number;
}

static_assert(equals(Opcode::kRead, OPCODE_READ) && equals(Opcode::kWrite, OPCODE_WRITE));
static_assert(equals(IntentType::kStagingInternal, TENT_INTENT_STAGING_INTERNAL));
static_assert(equals(IntentType::kWeightLoading, TENT_INTENT_WEIGHT_LOADING));
static_assert(equals(RequestedPriority::kHigh, TENT_PRIORITY_HIGH));
static_assert(equals(RequestedPriority::kLow, TENT_PRIORITY_LOW));
static_assert(equals(Transport::kRdma, TRANSPORT_RDMA) && equals(Transport::kShm, TRANSPORT_SHM));
static_assert(equals(Transport::kTcp, TRANSPORT_TCP) && equals(Transport::kMpcomm, TRANSPORT_MPCOMM));
static_assert(equals(ValidationMode::kStrict, TENT_MODE_STRICT) && equals(ValidationMode::kCompat, TENT_MODE_COMPAT));
static_assert(equals(DeadlineState::kNone, TENT_DEADLINE_NONE) &&
              equals(DeadlineState::kExpired, TENT_DEADLINE_EXPIRED));
static_assert(equals(DowngradeReason::kUnknownIntentType, TENT_DOWNGRADE_UNKNOWN_INTENT_TYPE - 1));
static_assert(equals(DowngradeReason::kTailIgnored, TENT_DOWNGRADE_TAIL_IGNORED - 1));
static_assert(equals(Surface::kV1, TENT_SURFACE_V1) && equals(Surface::kCpp, TENT_SURFACE_CPP));
static_assert(equals(Surface::kPython, TENT_SURFACE_PYTHON));
static_assert(kDowngradeReasonCount <= std::extent_v<decltype(tent_normalized_intent::downgrades)>);
static_assert(sizeof(tent_normalized_intent::policy_name) == kPolicyNameMax + 1);
static_assert(equals(TaskState::kWaiting, STATUS_WAITING) && equals(TaskState::kFailed, STATUS_FAILED));
static_assert(equals(Permission::kGlobalReadWrite, PERM_GLOBAL_READ_WRITE));
static_assert(kLocalSegment == LOCAL_SEGMENT_ID);
static_assert(equals(Category::kUnauthorizedPriority, TENT_ERROR_UNAUTHORIZED_PRIORITY));
static_assert(equals(Field::kEngine, TENT_FIELD_ENGINE) && equals(Field::kNotification, TENT_FIELD_NOTIFICATION));
static_assert(sizeof(tent_notifi_record::name) == Notification::kNameMax + 1);
static_assert(sizeof(tent_notifi_record::msg) == Notification::kMessageMax + 1);

}  // namespace
}  // namespace tent::abi
