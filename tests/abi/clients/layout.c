/* The layouts of the header as each platform must have them; compiled only. */
#include <stddef.h>

#include <tent/transfer_engine.h>

#if defined(__i386__)
#define EXPECT_KNOWN 80
#define EXPECT_MINIMUM 44
#define EXPECT_LEGACY_REQUEST 40
#else
#define EXPECT_KNOWN 88
#define EXPECT_MINIMUM 48
#if defined(__LP64__)
#define EXPECT_LEGACY_REQUEST 48
#else
#define EXPECT_LEGACY_REQUEST 40
#endif
#endif

_Static_assert(sizeof(struct tent_request_v1) == EXPECT_KNOWN, "known size");
_Static_assert(offsetof(struct tent_request_v1, intent_type) == EXPECT_MINIMUM, "minimum size");
_Static_assert(offsetof(struct tent_request_v1, opcode) == 8, "opcode");
_Static_assert(offsetof(struct tent_request_v1, reserved_opcode) == 12, "reserved_opcode");
_Static_assert(offsetof(struct tent_request_v1, source) == 16, "source");
_Static_assert(offsetof(struct tent_request_v1, flags) == EXPECT_KNOWN - 8, "flags is the last");
_Static_assert(sizeof(struct tent_request) == EXPECT_LEGACY_REQUEST, "legacy request");
_Static_assert(sizeof(struct tent_status) == (sizeof(void*) == 4 && EXPECT_KNOWN == 80 ? 12 : 16), "status");
_Static_assert(sizeof(struct tent_buffer_info) == 80, "buffer info");
_Static_assert(sizeof(struct tent_segment_info) == 8 + sizeof(void*), "segment info");
_Static_assert(offsetof(struct tent_notifi_record, name) == 8, "notification");
_Static_assert(sizeof(struct tent_notifi_record) == 4360, "notification");
#if defined(__LP64__)
_Static_assert(sizeof(struct tent_memory_options) == 344, "memory options");
#endif
_Static_assert(sizeof(struct tent_nic_load_stat) == 80, "NIC load");
_Static_assert(offsetof(struct tent_result, message) == (sizeof(void*) == 4 ? 44 : 56), "result");

int main(void) {
  return 0;
}
