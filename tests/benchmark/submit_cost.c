/* What valgrind counts in submit_cost.py: submits of 64 small writes each, by the legacy call or by v1.
 *
 *     submit_cost legacy|v1 ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tent/transfer_engine.h>

enum { ENTRIES = 64, BYTES = 64 };

int main(int argc, char** argv) {
  static char local[ENTRIES * BYTES];
  const int v1 = argc == 3 && strcmp(argv[1], "v1") == 0;
  const int rounds = argc == 3 ? atoi(argv[2]) : 0;
  char name[256];
  void* remote = NULL;
  tent_segment_id_t segment = 0;
  tent_engine_t target = tent_create_engine();
  tent_engine_t initiator = tent_create_engine();
  if (rounds == 0 || tent_segment_name(target, name, sizeof name) != 0 ||
      tent_allocate_memory(target, &remote, sizeof local, "cpu") != 0 ||
      tent_register_memory(initiator, local, sizeof local) != 0 || tent_open_segment(initiator, &segment, name) != 0) {
    fputs("usage: submit_cost legacy|v1 ROUNDS\n", stderr);
    return 2;
  }
  for (int round = 0; round < rounds; ++round) {
    tent_request_t legacy[ENTRIES];
    tent_request_v1_t requests[ENTRIES];
    const tent_batch_id_t batch = tent_allocate_batch(initiator, ENTRIES);
    for (size_t i = 0; i < ENTRIES; ++i) {
      const uint64_t address = (uint64_t)(uintptr_t)remote + i * BYTES;
      const tent_request_t old = {OPCODE_WRITE, local + i * BYTES, segment, address, BYTES, 0, 0};
      const tent_request_v1_t init = TENT_REQUEST_V1_INIT;
      legacy[i] = old;
      requests[i] = init;
      requests[i].opcode = OPCODE_WRITE;
      requests[i].source = local + i * BYTES;
      requests[i].target_id = segment;
      requests[i].target_offset = address;
      requests[i].length = BYTES;
      requests[i].intent_type = TENT_INTENT_FOREGROUND_GET;
    }
    if (v1 ? tent_submit_v1(initiator, batch, requests, ENTRIES) != TENT_OK
           : tent_submit(initiator, batch, legacy, ENTRIES) != 0) {
      return 1;
    }
    if (tent_wait_batch(initiator, batch, UINT64_MAX) != TENT_OK || tent_free_batch(initiator, batch) != 0) return 1;
  }
  tent_destroy_engine(initiator);
  tent_destroy_engine(target);
  return 0;
}
