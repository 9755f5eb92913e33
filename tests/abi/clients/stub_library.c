/* A stub, not the library: it moves nothing. With STUB_V1 it has a submit that walks entries by the caller's stride, so
 * that a client of another word size can be run; without, it is a library from before v1, of which only the absence of
 * symbols matters. */
#include <string.h>

#include <tent/transfer_engine.h>

tent_engine_t tent_create_engine(void) {
  static int engine;
  return &engine;
}

void tent_destroy_engine(tent_engine_t engine) {
  (void)engine;
}

tent_batch_id_t tent_allocate_batch(tent_engine_t engine, size_t batch_size) {
  (void)engine;
  return batch_size;
}

int tent_submit(tent_engine_t engine, tent_batch_id_t batch, tent_request_t* entries, size_t count) {
  (void)engine, (void)batch, (void)entries, (void)count;
  return -1;
}

#ifdef STUB_V1
int tent_get_request_schema_info(uint32_t schema_version, size_t* minimum_size, size_t* known_size) {
  if (schema_version != TENT_REQUEST_SCHEMA_V1) return TENT_ERROR_UNSUPPORTED_SCHEMA;
  *minimum_size = offsetof(struct tent_request_v1, intent_type);
  *known_size = sizeof(struct tent_request_v1);
  return TENT_OK;
}

int tent_submit_requests(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                         size_t entry_stride, uint32_t schema_version) {
  (void)engine, (void)batch;
  if (schema_version != TENT_REQUEST_SCHEMA_V1) return TENT_ERROR_UNSUPPORTED_SCHEMA;
  for (size_t i = 0; i < count; ++i) {
    struct tent_request_v1 request;
    memcpy(&request, (const char*)entries + i * entry_stride, sizeof request);
    if (request.struct_size != sizeof request) return TENT_ERROR_INVALID_LAYOUT;
    if (request.opcode != OPCODE_READ && request.opcode != OPCODE_WRITE) return TENT_ERROR_INVALID_ENUM;
  }
  return TENT_OK;
}
#endif
