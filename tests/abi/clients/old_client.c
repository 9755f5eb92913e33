/* A client as deployed before v1: it knows the legacy header alone. Moves bytes between two engines, polling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tent/transfer_engine.h>

enum { BYTES = 1 << 20, PIECES = 16 };

#define MUST(condition)                                           \
  do {                                                            \
    if (!(condition)) {                                           \
      fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
      exit(1);                                                    \
    }                                                             \
  } while (0)

int main(void) {
  char name[256];
  uint16_t port = 0;
  char host[64];
  unsigned char* local = malloc(BYTES);
  void* remote = NULL;
  tent_segment_id_t segment = 0;
  tent_segment_info_t info;
  tent_request_t requests[PIECES];
  tent_status_t status;
  tent_notifi_info notifications;
  tent_engine_t target, initiator;
  tent_batch_id_t batch;
  size_t i;

  tent_load_config_from_file("{\"max_failover_attempts\": 2}");
  tent_set_config("transports/rdma/enable", "false");
  target = tent_create_engine();
  initiator = tent_create_engine();
  MUST(target != NULL && initiator != NULL && tent_available(target) == 1);
  MUST(tent_segment_name(target, name, sizeof(name)) == 0);
  MUST(tent_rpc_server_addr_port(target, host, sizeof(host), &port) == 0 && port != 0);
  MUST(tent_allocate_memory(target, &remote, BYTES, "cpu") == 0);
  MUST(tent_register_memory(initiator, local, BYTES) == 0);
  MUST(tent_open_segment(initiator, &segment, name) == 0);
  MUST(tent_get_segment_info(initiator, segment, &info) == 0);
  MUST(info.type == TYPE_MEMORY && info.num_buffers == 1 && info.buffers[0].length == BYTES);
  MUST(strcmp(info.buffers[0].location, "cpu") == 0);

  for (i = 0; i < BYTES; ++i) local[i] = (unsigned char)(i * 7 + 1);
  memset(requests, 0, sizeof(requests));
  for (i = 0; i < PIECES; ++i) {
    requests[i].opcode = OPCODE_WRITE;
    requests[i].source = local + i * (BYTES / PIECES);
    requests[i].target_id = segment;
    requests[i].target_offset = info.buffers[0].base + i * (BYTES / PIECES);
    requests[i].length = BYTES / PIECES;
  }
  tent_free_segment_info(&info);
  batch = tent_allocate_batch(initiator, PIECES);
  MUST(batch != 0);
  MUST(tent_submit_notif(initiator, batch, requests, PIECES, "moved", "all of it") == 0);
  do {
    MUST(tent_overall_status(initiator, batch, &status) == 0);
  } while (status.status == STATUS_PENDING);
  MUST(status.status == STATUS_COMPLETED && status.transferred_bytes == BYTES);
  for (i = 0; i < PIECES; ++i) {
    MUST(tent_task_status(initiator, batch, i, &status) == 0 && status.status == STATUS_COMPLETED);
  }
  MUST(memcmp(local, remote, BYTES) == 0);
  MUST(tent_recv_notifs(target, &notifications) == 0);
  MUST(notifications.num_records == 1 && strcmp(notifications.records[0].name, "moved") == 0);
  MUST(strcmp(notifications.records[0].msg, "all of it") == 0);
  tent_free_notifs(&notifications);
  MUST(tent_free_batch(initiator, batch) == 0);
  MUST(tent_close_segment(initiator, segment) == 0);
  MUST(tent_unregister_memory(initiator, local, BYTES) == 0);
  MUST(tent_free_memory(target, remote) == 0);
  tent_destroy_engine(initiator);
  tent_destroy_engine(target);
  free(local);
  puts("old client: moved");
  return 0;
}
