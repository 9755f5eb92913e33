/* A client that runs with old and new libraries, and tells the three cases apart: the symbol is not there, the schema
 * is not known, or the request is wrong.
 *
 *     cc discovering_client.c -ldl && ./a.out PATH_OF_LIBTENT
 */
#include <dlfcn.h>
#include <stdio.h>

#include <tent/transfer_engine.h>

typedef int (*submit_requests)(tent_engine_t, tent_batch_id_t, const void*, size_t, size_t, uint32_t);
typedef int (*schema_info)(uint32_t, size_t*, size_t*);
typedef tent_engine_t (*create_engine)(void);
typedef void (*destroy_engine)(tent_engine_t);
typedef tent_batch_id_t (*allocate_batch)(tent_engine_t, size_t);

/* POSIX says that dlsym gives functions too; ISO C has no cast for it. */
static void load(void* library, const char* name, void* function) {
  *(void**)function = dlsym(library, name);
}

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "libtent.so.1", RTLD_NOW);
  submit_requests submit;
  schema_info info;
  create_engine create;
  destroy_engine destroy;
  allocate_batch allocate;
  struct tent_request_v1 request = TENT_REQUEST_V1_INIT;
  size_t minimum = 0, known = 0;
  tent_engine_t engine;
  int code;

  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  load(library, "tent_submit_requests", &submit);
  load(library, "tent_get_request_schema_info", &info);
  if (submit == NULL || info == NULL) {
    puts("symbol unavailable: use tent_submit");
    return 0;
  }
  if (info(2, &minimum, &known) == TENT_ERROR_UNSUPPORTED_SCHEMA) puts("schema 2 unsupported: use schema 1");
  if (info(TENT_REQUEST_SCHEMA_V1, &minimum, &known) != TENT_OK) return 1;
  printf("schema 1: %zu to %zu bytes\n", minimum, known);

  load(library, "tent_create_engine", &create);
  load(library, "tent_destroy_engine", &destroy);
  load(library, "tent_allocate_batch", &allocate);
  engine = create();
  request.opcode = 7;
  request.source = &request;
  request.length = 1;
  code = submit(engine, allocate(engine, 1), &request, 1, sizeof request, TENT_REQUEST_SCHEMA_V1);
  if (code == TENT_ERROR_INVALID_ENUM) puts("request invalid: an unknown opcode");
  destroy(engine);
  dlclose(library);
  return 0;
}
