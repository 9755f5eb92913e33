/* A client of v1 that is linked with the library: a write, its wait, and the error of a wrong request. */
#include <stdio.h>
#include <string.h>

#include <tent/transfer_engine.h>

int main(void) {
  static char local[4096] = "bytes";
  void* remote = NULL;
  struct tent_request_v1 request = TENT_REQUEST_V1_INIT;
  tent_result_t result = TENT_RESULT_INIT;
  uint64_t deadline_ns = 0;
  tent_engine_t engine = tent_create_engine();
  tent_batch_id_t batch = tent_allocate_batch(engine, 2);
  if (tent_get_api_version() >> 16 != TENT_API_VERSION_MAJOR) return 1;
  if (tent_allocate_memory(engine, &remote, sizeof local, NULL) != 0) return 2;
  if (tent_deadline_after_ns(5000000000u, &deadline_ns) != TENT_OK) return 3;
  request.opcode = OPCODE_WRITE;
  request.source = local;
  request.target_id = LOCAL_SEGMENT_ID;
  request.target_offset = (uint64_t)(uintptr_t)remote;
  request.length = sizeof local;
  request.intent_type = TENT_INTENT_CHECKPOINT;
  request.deadline_ns = deadline_ns;
  if (tent_submit_v1(engine, batch, &request, 1) != TENT_OK) return 4;
  if (tent_wait_batch(engine, batch, UINT64_MAX) != TENT_OK) return 5;
  if (memcmp(local, remote, sizeof local) != 0) return 6;
  request.flags = 1;
  if (tent_submit_v1(engine, batch, &request, 1) != TENT_ERROR_INVALID_FLAGS) return 7;
  if (tent_last_error(&result) != TENT_OK || result.reason != TENT_REASON_UNKNOWN_FLAGS) return 8;
  printf("new client: %s\n", result.message);
  tent_free_batch(engine, batch);
  tent_destroy_engine(engine);
  return 0;
}
