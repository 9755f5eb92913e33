/* What C says of vectors: one line of JSON for each line of standard input.
 *
 *   c_surface CONFIG explain ENVIRONMENT   the result object of tent_explain_requests, at the vector's time
 *   c_surface CONFIG submit                what each way to submit answers, and the explanation beside them
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vector_line.h"

enum { kMemory = 1 << 20, kAlignment = 16, kRoom = 1 << 17 };

static tent_engine_t engine_of(const char* config) {
  tent_engine_t engine;
  tent_load_config_from_file(config);
  engine = tent_create_engine();
  if (engine == NULL) {
    tent_result_t why = TENT_RESULT_INIT;
    tent_last_error(&why);
    give_up("tent_create_engine", why.message);
  }
  return engine;
}

/* The vector's entry where and as it claims to be; valid until the next call. */
static const void* place(const struct vector_line* vector) {
  static unsigned char block[kRoom + 2 * kAlignment];
  unsigned char* base = block + (kAlignment - (uintptr_t)block % kAlignment) + vector->misalign;
  memset(block, 0, sizeof block);
  memcpy(base, &vector->entry, sizeof vector->entry);
  memcpy(base + sizeof vector->entry, vector->tail, vector->tail_size);
  return base;
}

/* What went wrong with the call itself, as an object. */
static void print_call_error(void) {
  tent_result_t why = TENT_RESULT_INIT;
  tent_last_error(&why);
  printf("{\"call\":[\"%s\",\"%s\",\"%s\"]}", why.category_name, why.reason_name, why.field_name);
}

static void print_explanation(tent_engine_t engine, const struct vector_line* vector, const char* environment,
                              uint64_t now_ns) {
  static char text[1 << 16];
  size_t size = sizeof text;
  tent_explain_options_t options = TENT_EXPLAIN_OPTIONS_INIT;
  options.mode = vector->mode;
  options.now_ns = now_ns;
  options.environment = environment;
  if (tent_explain_requests(engine, place(vector), 1, vector->stride, vector->schema_version, &options, text, &size) !=
      TENT_OK) {
    print_call_error();
    return;
  }
  strrchr(text, '}')[1] = '\0'; /* the array's one object, on one line */
  fputs(strchr(text, '{'), stdout);
}

/* What a submit came to: ok, or "category/reason/field"; a legacy one has no category. */
static void print_outcome(const char* name, int code, int legacy) {
  tent_result_t why = TENT_RESULT_INIT;
  if (code == TENT_OK) {
    printf("\"%s\":\"ok\"", name);
    return;
  }
  tent_last_error(&why);
  if (legacy && code != -1) give_up(name, "a legacy function returns -1");
  if (!legacy && code != why.category) give_up(name, "the return value is not the category");
  printf("\"%s\":\"%s/%s/%s\"", name, why.category_name, why.reason_name, why.field_name);
}

static int submit(tent_engine_t engine, tent_batch_id_t batch, const void* entry, const struct vector_line* vector,
                  const tent_submit_options_t* options) {
  return tent_submit_requests_ex(engine, batch, entry, 1, vector->stride, vector->schema_version, options, NULL);
}

static void print_submits(tent_engine_t engine, tent_segment_id_t segment, uint64_t target, void* source,
                          struct vector_line* vector) {
  const tent_batch_id_t batch = tent_allocate_batch(engine, 3);
  tent_submit_options_t options = TENT_SUBMIT_OPTIONS_INIT;
  struct tent_request legacy;
  const void* entry;
  vector->entry.target_id = segment;
  vector->entry.target_offset += target;
  if (vector->entry.source != NULL) vector->entry.source = source;
  entry = place(vector);
  options.mode = vector->mode;
  printf("{");
  print_outcome("plain", submit(engine, batch, entry, vector, &options), 0);
  options.notification_name = "n";
  options.notification_message = "m";
  printf(",");
  print_outcome("notified", submit(engine, batch, entry, vector, &options), 0);
  memset(&legacy, 0, sizeof legacy);
  legacy.opcode = vector->entry.opcode;
  legacy.source = vector->entry.source;
  legacy.target_id = segment;
  legacy.target_offset = vector->entry.target_offset;
  legacy.length = vector->entry.length;
  legacy.priority = vector->legacy_priority;
  legacy.transport_hint = vector->entry.transport_hint;
  printf(",");
  print_outcome("legacy", tent_submit(engine, batch, &legacy, 1), 1);
  printf(",\"explained\":");
  print_explanation(engine, vector, NULL, 0);
  printf("}");
  if (tent_wait_batch(engine, batch, UINT64_MAX) != TENT_OK || tent_free_batch(engine, batch) != 0) {
    give_up("a batch", "does not end");
  }
}

int main(int argc, char** argv) {
  static struct vector_line vector;
  const int submits = argc == 3 && strcmp(argv[2], "submit") == 0;
  char* environment = NULL;
  tent_engine_t engine;
  tent_engine_t peer = NULL;
  tent_segment_id_t segment = 0;
  void* target = NULL;
  void* source = malloc(kMemory);
  char name[256];
  if (!submits && argc != 4) give_up("usage", "c_surface CONFIG explain ENVIRONMENT | CONFIG submit");
  engine = engine_of(argv[1]);
  if (submits) {
    peer = engine_of("{}");
    if (tent_allocate_memory(peer, &target, kMemory, "cpu") != 0 || tent_segment_name(peer, name, sizeof name) != 0 ||
        tent_open_segment(engine, &segment, name) != 0 || source == NULL) {
      give_up("the peer", "cannot be reached");
    }
    memset(source, 1, kMemory);
  } else {
    environment = read_text(argv[3]);
  }
  while (read_vector(&vector)) {
    if (submits) {
      tent_notifi_info arrived = {0, NULL};
      print_submits(engine, segment, (uint64_t)(uintptr_t)target, source, &vector);
      if (tent_recv_notifs(peer, &arrived) == 0) tent_free_notifs(&arrived);
    } else {
      print_explanation(engine, &vector, environment, vector.now_ns);
    }
    putchar('\n');
  }
  tent_destroy_engine(engine);
  if (peer != NULL) tent_destroy_engine(peer);
  free(source);
  free(environment);
  return 0;
}
