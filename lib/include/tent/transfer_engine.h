/*
 * The C API of TENT: the legacy API as deployed, and Transfer Intent API v1 beside it.
 *
 * Conventions
 *  1. A handle is a value of this library, never a pointer of yours. A handle that was destroyed, that another engine
 *     made, or that was made up is refused by every function; it does not crash.
 *  2. Functions return 0 on success unless they say otherwise. Legacy functions return -1 on every error; functions of
 *     v1 return one of TENT_ERROR_*. What exactly was wrong is told by tent_last_error, for each thread its own call.
 *  3. On an error nothing is written through output pointers, except that a text buffer with room for at least one byte
 *     is terminated.
 *  4. Structs that begin with struct_size are append-only: set it to sizeof the struct, as their _INIT does. The
 *     library's may be shorter or longer: struct_size ends behind any field from the second on, and is at most 4096.
 *     Of options, fields behind struct_size take their defaults, and what lies behind the fields that the library knows
 *     must be zero. An output is written no further than struct_size, and what lies behind the fields that the library
 *     knows is set to zero. (Entries have rules of their own: see struct tent_request_v1.)
 *  5. All functions may be called from any thread. tent_destroy_engine waits for the calls on its engine that other
 *     threads are in; no call is accepted after it.
 *  6. Strings, arrays and outputs need to live only for the call. They must be mapped for as much as they are said to
 *     be: as with every function of C, a pointer that is not NULL is taken at its word.
 *     The memory that requests move is looked at. It must stay mapped, and allow what a task does with it, from the
 *     submit until the task has ended; what is not so when it is submitted fails its task (TENT_REASON_IO_ERROR here,
 *     TENT_REASON_OUT_OF_RANGE or TENT_REASON_PERMISSION_DENIED at the target). Memory may be registered before it is
 *     mapped, and unmapped before it is unregistered. Not noticed, and the end of the process as if it had touched the
 *     memory itself, is what changes under a task, what mprotect(2) took from memory that was registered before, and a
 *     file that was cut under its mapping.
 *  7. No exception leaves this library. It raises no signal, SIGPIPE included, and its threads take none. After fork()
 *     the child must not use the parent's engines, nor destroy them; it may make its own. A child that lives on without
 *     exec keeps copies of the parent's connections, so that peers may see their end only with its own. A program that
 *     is started by exec inherits no descriptor of this library.
 *  8. Times are nanoseconds; deadlines are of CLOCK_MONOTONIC. Sizes and lengths are bytes.
 *
 * Telling apart what a library can do
 *   symbol unavailable    dlsym(..., "tent_submit_requests") gives NULL: use tent_submit
 *   schema unsupported    tent_get_request_schema_info returns TENT_ERROR_UNSUPPORTED_SCHEMA, as a submit does
 *   request invalid       any other of TENT_ERROR_*; the message says what to change
 */
#ifndef TENT_TRANSFER_ENGINE_H
#define TENT_TRANSFER_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ======== The legacy API. Frozen: layouts, values and meaning never change. ======== */

#define tent_batch_id_t uint64_t
#define tent_segment_id_t uint64_t
typedef void* tent_engine_t;

#define LOCAL_SEGMENT_ID 0 /* the engine's own memory */

#define OPCODE_READ 0  /* from the target to `source` */
#define OPCODE_WRITE 1 /* from `source` to the target */

#define TYPE_MEMORY 0
#define TYPE_FILE 1

#define STATUS_WAITING 0
#define STATUS_PENDING 1
#define STATUS_INVALID 2
#define STATUS_CANCELED 3
#define STATUS_COMPLETED 4
#define STATUS_TIMEOUT 5
#define STATUS_FAILED 6

#define PERM_LOCAL_READ_WRITE 0
#define PERM_GLOBAL_READ_ONLY 1
#define PERM_GLOBAL_READ_WRITE 2

#define TRANSPORT_UNSPEC 0
#define TRANSPORT_RDMA 1
#define TRANSPORT_MNNVL 2
#define TRANSPORT_SHM 3
#define TRANSPORT_NVLINK 4
#define TRANSPORT_GDS 5
#define TRANSPORT_IOURING 6
#define TRANSPORT_TCP 7
#define TRANSPORT_ASCEND_DIRECT 8
#define TRANSPORT_SUNRISE_LINK 9
#define TRANSPORT_TPU 10
#define TRANSPORT_UB 11
#define TRANSPORT_MPCOMM 12

struct tent_request {
  int opcode;
  void* source;
  tent_segment_id_t target_id;
  uint64_t target_offset; /* an address inside the target's buffers */
  uint64_t length;
  int priority;       /* 0 high, 1 medium, 2 low: zero asks for the highest, and nothing here says "unset" */
  int transport_hint; /* TRANSPORT_* */
};
typedef struct tent_request tent_request_t;

struct tent_status {
  int status; /* STATUS_* */
  uint64_t transferred_bytes;
};
typedef struct tent_status tent_status_t;

struct tent_buffer_info {
  uint64_t base;
  uint64_t length;
  char location[64];
};

struct tent_segment_info {
  int type; /* TYPE_* */
  int num_buffers;
  struct tent_buffer_info* buffers;
};
typedef struct tent_segment_info tent_segment_info_t;

struct tent_notifi_record {
  tent_segment_id_t handle; /* of the sender, where its segment is open here; else 0 */
  char name[256];
  char msg[4096];
};
typedef struct tent_notifi_record tent_notifi_record_t;

struct tent_notifi_info {
  int num_records;
  struct tent_notifi_record* records;
};
typedef struct tent_notifi_info tent_notifi_info;

struct tent_memory_options {
  char location[64];  /* "cpu", "cpu:N", "cuda:N"; "" and "*": cpu */
  int permission;     /* PERM_* */
  int transport_type; /* TRANSPORT_UNSPEC, or one that this engine serves */
  char shm_path[256]; /* must be "": the library names its own shared memory */
  size_t shm_offset;  /* must be 0 */
  int internal;       /* must be 0 */
};
typedef struct tent_memory_options tent_memory_options_t;

struct tent_nic_load_stat {
  char device_name[64];
  uint64_t inflight_bytes;
  double ewma_bandwidth_bps;
};
typedef struct tent_nic_load_stat tent_nic_load_stat_t;

/* Configuration of the next engine that this thread creates: a file, or a JSON text (its first byte that is not a space
 * is '{'); then single keys ("transports/tcp/enable"), later ones over earlier ones. A value is JSON ("false", "16") or
 * else text. What is wrong with them is told by tent_create_engine. */
void tent_load_config_from_file(const char* path);
void tent_set_config(const char* key, const char* value);

/* Peers must have the same token: that of "auth/token_file", else on a loopback address the user's own, which is made
 * when it is first needed. An address that other machines reach needs "auth/token_file", or "auth/mode" "none" to let
 * everybody in.
 *
 * NULL on an error: see tent_last_error. Uses up this thread's configuration in any case. */
tent_engine_t tent_create_engine(void);
/* Ends what is in flight. */
void tent_destroy_engine(tent_engine_t engine);
/* 1 when the engine can be used, else 0. */
int tent_available(tent_engine_t engine);

/* The engine's segment name: what peers pass to tent_open_segment. */
int tent_segment_name(tent_engine_t engine, char* buf, size_t len);
int tent_rpc_server_addr_port(tent_engine_t engine, char* buf, size_t len, uint16_t* port);

/* Connects to the engine at `name`; the same name gives the same handle, to be closed as often as it was opened. */
int tent_open_segment(tent_engine_t engine, tent_segment_id_t* handle, const char* name);
int tent_close_segment(tent_engine_t engine, tent_segment_id_t handle);
/* The buffers that peers may reach. `info` is freed by tent_free_segment_info, which may be called again. */
int tent_get_segment_info(tent_engine_t engine, tent_segment_id_t handle, tent_segment_info_t* info);
void tent_free_segment_info(tent_segment_info_t* info);

/* Zeroed memory that is registered; peers on this machine map it. `location`: as tent_memory_options; NULL is "".
 * Its pages come when they are touched, so together allocations may ask for more than there is (overcommit). One that
 * alone is more than all memory and swap of the machine, or of the control group, is TENT_REASON_RESOURCE_EXHAUSTED. */
int tent_allocate_memory(tent_engine_t engine, void** addr, size_t size, const char* location);
int tent_allocate_memory_ex(tent_engine_t engine, void** addr, size_t size, tent_memory_options_t* options);
int tent_free_memory(tent_engine_t engine, void* addr);

/* Registers the application's memory, for peers to read and write unless a permission says otherwise. Nothing of it
 * need be mapped yet (convention 6). Registering the same again, or what was allocated, succeeds. The batch forms are
 * all or nothing. */
int tent_register_memory(tent_engine_t engine, void* addr, size_t size);
int tent_register_memory_with_perm(tent_engine_t engine, void* addr, size_t size, int permission);
int tent_register_memory_ex(tent_engine_t engine, void* addr, size_t size, tent_memory_options_t* options);
int tent_register_memory_batch(tent_engine_t engine, void** addrs, size_t* sizes, size_t count, int permission);
int tent_register_memory_batch_ex(tent_engine_t engine, void** addrs, size_t* sizes, size_t count,
                                  tent_memory_options_t* options);
/* `size` 0: what was registered at `addr`, whatever its size. */
int tent_unregister_memory(tent_engine_t engine, void* addr, size_t size);
int tent_unregister_memory_batch(tent_engine_t engine, void** addrs, size_t* sizes, size_t count);

/* A batch with room for `batch_size` tasks; 0 on an error. */
tent_batch_id_t tent_allocate_batch(tent_engine_t engine, size_t batch_size);
/* Refused while tasks are in flight. */
int tent_free_batch(tent_engine_t engine, tent_batch_id_t batch);

/* Not all or nothing: an entry that cannot be routed is accepted and its task fails (tent_task_error says why). */
int tent_submit(tent_engine_t engine, tent_batch_id_t batch, tent_request_t* entries, size_t count);
/* The targets receive the notification once the data of all entries is there. */
int tent_submit_notif(tent_engine_t engine, tent_batch_id_t batch, tent_request_t* entries, size_t count,
                      const char* name, const char* message);
int tent_send_notifs(tent_engine_t engine, tent_segment_id_t segment, const char* name, const char* message);
/* What has arrived. `info` is freed by tent_free_notifs, which may be called again. */
int tent_recv_notifs(tent_engine_t engine, tent_notifi_info* info);
void tent_free_notifs(tent_notifi_info* info);

int tent_task_status(tent_engine_t engine, tent_batch_id_t batch, size_t task, tent_status_t* status);
/* `count`: room for so many in, so many tasks out. */
int tent_task_status_list(tent_engine_t engine, tent_batch_id_t batch, tent_status_t* statuses, size_t* count);
int tent_overall_status(tent_engine_t engine, tent_batch_id_t batch, tent_status_t* status);
/* Asks that a task does not begin; poll it until its status is final. */
int tent_cancel_task(tent_engine_t engine, tent_batch_id_t batch, size_t task);

/* `count`: room for so many in, so many NICs out. */
int tent_get_nic_load_stats(tent_engine_t engine, tent_nic_load_stat_t* stats, size_t* count);

/* ======== Transfer Intent API v1 ======== */

#define TENT_API_VERSION_MAJOR 1u
#define TENT_API_VERSION_MINOR 1u
#define TENT_API_VERSION (TENT_API_VERSION_MAJOR << 16 | TENT_API_VERSION_MINOR) /* of this header */

#define TENT_INTENT_UNSPEC 0
#define TENT_INTENT_FOREGROUND_GET 1
#define TENT_INTENT_BACKGROUND_PREFETCH 2
#define TENT_INTENT_MIGRATION 3
#define TENT_INTENT_CHECKPOINT 4
#define TENT_INTENT_WEIGHT_LOADING 5
#define TENT_INTENT_STAGING_INTERNAL 6 /* refused: TENT's own */

#define TENT_PRIORITY_UNSPEC 0 /* what the contract gives */
#define TENT_PRIORITY_HIGH 1
#define TENT_PRIORITY_MEDIUM 2
#define TENT_PRIORITY_LOW 3

#define TENT_DEADLINE_NONE 0
#define TENT_DEADLINE_PENDING 1
#define TENT_DEADLINE_EXPIRED 2 /* kept and reported, never extended */

/* What compatibility mode changed in a request instead of refusing it. */
#define TENT_DOWNGRADE_UNKNOWN_INTENT_TYPE 1 /* to TENT_INTENT_UNSPEC */
#define TENT_DOWNGRADE_UNKNOWN_PRIORITY 2    /* to TENT_PRIORITY_UNSPEC */
#define TENT_DOWNGRADE_POLICY_UNKNOWN 3
#define TENT_DOWNGRADE_POLICY_UNAUTHORIZED 4
#define TENT_DOWNGRADE_PRIORITY_ABOVE_CONTRACT 5
#define TENT_DOWNGRADE_FLAGS_IGNORED 6 /* bits 32-63 */
#define TENT_DOWNGRADE_TAIL_IGNORED 7  /* `from` is the entry's struct_size */

/* Through which interface a request came, as result objects name it. */
#define TENT_SURFACE_V1 0
#define TENT_SURFACE_CPP 2
#define TENT_SURFACE_PYTHON 3

#define TENT_MODE_CONFIGURED (-1) /* `validation_mode` of the engine's configuration, else strict */
#define TENT_MODE_STRICT 0
#define TENT_MODE_COMPAT 1

/* Categories: what functions of v1 return. */
#define TENT_OK 0
#define TENT_ERROR_RUNTIME (-1) /* the request was valid */
#define TENT_ERROR_UNSUPPORTED_SCHEMA (-2)
#define TENT_ERROR_INVALID_LAYOUT (-3)
#define TENT_ERROR_INVALID_ARGUMENT (-4)
#define TENT_ERROR_INVALID_ENUM (-5)
#define TENT_ERROR_INVALID_FLAGS (-6)
#define TENT_ERROR_INVALID_POLICY (-7)
#define TENT_ERROR_DEADLINE (-8)
#define TENT_ERROR_UNSUPPORTED_FIELD (-9)
#define TENT_ERROR_TRANSPORT_UNAUTHORIZED (-10)
#define TENT_ERROR_UNAUTHORIZED_INTENT (-11)
#define TENT_ERROR_UNAUTHORIZED_PRIORITY (-12)

/* Reasons: the hundreds are the category. */
#define TENT_REASON_NONE 0
#define TENT_REASON_DEADLINE_EXPIRED 101
#define TENT_REASON_ADMISSION_QUEUE_FULL 102
#define TENT_REASON_CANCELED 103
#define TENT_REASON_TIMEOUT 104
#define TENT_REASON_PEER_UNREACHABLE 105
#define TENT_REASON_PEER_LOST 106
#define TENT_REASON_AUTH_FAILED 107
#define TENT_REASON_STALE_SEGMENT 108
#define TENT_REASON_REGISTRATION_FAILED 109
#define TENT_REASON_RESOURCE_EXHAUSTED 110
#define TENT_REASON_IO_ERROR 111
#define TENT_REASON_BAD_CONFIGURATION 112
#define TENT_REASON_INTERNAL 113
#define TENT_REASON_SCHEMA_UNKNOWN 201
#define TENT_REASON_SCHEMA_MISMATCH 202
#define TENT_REASON_STRIDE_TOO_SMALL 301
#define TENT_REASON_STRIDE_TOO_LARGE 302
#define TENT_REASON_MISALIGNED 303
#define TENT_REASON_STRUCT_SIZE_TOO_SMALL 304
#define TENT_REASON_STRUCT_SIZE_TOO_LARGE 305
#define TENT_REASON_STRUCT_SIZE_SPLITS_FIELD 306
#define TENT_REASON_COUNT_OVERFLOW 307
#define TENT_REASON_NULL_ENGINE 401  /* or not a handle of a living engine */
#define TENT_REASON_NULL_ENTRIES 402 /* or another pointer that is needed, which the message names */
#define TENT_REASON_NULL_SOURCE 403
#define TENT_REASON_ZERO_LENGTH 404
#define TENT_REASON_RANGE_OVERFLOW 405
#define TENT_REASON_BAD_BATCH 406 /* or not a task of it, or not to be freed yet */
#define TENT_REASON_BATCH_FULL 407
#define TENT_REASON_UNKNOWN_SEGMENT 408
#define TENT_REASON_OUT_OF_RANGE 409 /* of registered memory; or of an output that is too short */
#define TENT_REASON_PERMISSION_DENIED 410
#define TENT_REASON_NULL_NOTIFICATION 411
#define TENT_REASON_NOTIFICATION_TOO_LONG 412
#define TENT_REASON_UNKNOWN_OPCODE 501
#define TENT_REASON_UNKNOWN_INTENT_TYPE 502
#define TENT_REASON_UNKNOWN_PRIORITY 503
#define TENT_REASON_UNKNOWN_TRANSPORT 504
#define TENT_REASON_RESERVED_NONZERO 601
#define TENT_REASON_UNKNOWN_FLAGS 602
#define TENT_REASON_POLICY_EMPTY 701
#define TENT_REASON_POLICY_TOO_LONG 702
#define TENT_REASON_POLICY_BAD_CHARACTER 703
#define TENT_REASON_POLICY_UNKNOWN 704
#define TENT_REASON_POLICY_UNAUTHORIZED 705
#define TENT_REASON_DEADLINE_OVERFLOW 801
#define TENT_REASON_DEADLINE_OUT_OF_RANGE 802
#define TENT_REASON_TRANSPORT_NOT_BUILT 901
#define TENT_REASON_HINT_NOT_IN_POLICY 1001
#define TENT_REASON_HINT_NOT_IN_CONTRACT 1002
#define TENT_REASON_HINT_UNAVAILABLE 1003
#define TENT_REASON_NO_TRANSPORT 1004
#define TENT_REASON_STAGING_INTERNAL_RESERVED 1101
#define TENT_REASON_PRIORITY_ABOVE_CONTRACT 1201

/* Fields of a request, or arguments of a call. */
#define TENT_FIELD_NONE 0
#define TENT_FIELD_ENGINE 1
#define TENT_FIELD_BATCH 2
#define TENT_FIELD_ENTRIES 3
#define TENT_FIELD_COUNT 4
#define TENT_FIELD_ENTRY_STRIDE 5
#define TENT_FIELD_STRUCT_SIZE 6
#define TENT_FIELD_SCHEMA_VERSION 7
#define TENT_FIELD_RESERVED_OPCODE 8
#define TENT_FIELD_RESERVED0 9
#define TENT_FIELD_FLAGS 10
#define TENT_FIELD_OPCODE 11
#define TENT_FIELD_SOURCE 12
#define TENT_FIELD_LENGTH 13
#define TENT_FIELD_TARGET_OFFSET 14
#define TENT_FIELD_TARGET_ID 15
#define TENT_FIELD_INTENT_TYPE 16
#define TENT_FIELD_REQUESTED_PRIORITY 17
#define TENT_FIELD_DEADLINE_NS 18
#define TENT_FIELD_POLICY_NAME 19
#define TENT_FIELD_TRANSPORT_HINT 20
#define TENT_FIELD_NOTIFICATION 21

#define TENT_REQUEST_SCHEMA_V1 1u

/* One transfer and what it means. Zero is the default of every optional field; fields from intent_type on are optional:
 * struct_size may end at the end of `length` or of any field behind it. It may be more than this library knows, up to
 * the stride and 4096: what lies behind is ignored, and recorded (TENT_DOWNGRADE_TAIL_IGNORED) where it is not zero. */
struct tent_request_v1 {
  uint32_t struct_size;     /* sizeof(struct tent_request_v1) */
  uint32_t schema_version;  /* TENT_REQUEST_SCHEMA_V1 */
  int32_t opcode;           /* OPCODE_READ, OPCODE_WRITE */
  uint32_t reserved_opcode; /* 0 */
  void* source;             /* this process's memory; not NULL */
  tent_segment_id_t target_id;
  uint64_t target_offset; /* an address inside the target's buffers */
  uint64_t length;        /* at least 1 */

  int32_t intent_type;        /* TENT_INTENT_* */
  int32_t requested_priority; /* TENT_PRIORITY_*: a wish, not a right */
  uint64_t deadline_ns;       /* CLOCK_MONOTONIC of this host (tent_deadline_after_ns); 0: none */
  const char* policy_name;    /* 1 to 127 of A-Z a-z 0-9 . _ -, first a letter or digit; NULL: none */
  int32_t transport_hint;     /* TRANSPORT_*: the first attempt, within what is authorized */
  uint32_t reserved0;         /* 0 */
  uint64_t flags;             /* none is defined: bits 0-31 are refused, bits 32-63 ignored and recorded */
};
typedef struct tent_request_v1 tent_request_v1_t;

/* struct tent_request_v1 r = TENT_REQUEST_V1_INIT; in C99 and in C++. */
#define TENT_REQUEST_V1_INIT                                                                                 \
  {                                                                                                          \
    sizeof(struct tent_request_v1), TENT_REQUEST_SCHEMA_V1, OPCODE_READ, 0u, NULL, LOCAL_SEGMENT_ID, 0u, 0u, \
        TENT_INTENT_UNSPEC, TENT_PRIORITY_UNSPEC, 0u, NULL, TRANSPORT_UNSPEC, 0u, 0u                         \
  }

/* What came of a call or of a task. The names are static: "invalid_enum", "unknown_opcode", "opcode"; "" for none. */
struct tent_result {
  uint32_t struct_size; /* in: sizeof(struct tent_result) */
  int32_t category;     /* TENT_OK, TENT_ERROR_* */
  int32_t reason;       /* TENT_REASON_* */
  int32_t field;        /* TENT_FIELD_* */
  int64_t index;        /* the entry; -1: the call as a whole */
  uint64_t failing;     /* how many entries fail; 0 where the call itself does */
  const char* category_name;
  const char* reason_name;
  const char* field_name;
  char message[512]; /* one sentence for people, terminated */
};
typedef struct tent_result tent_result_t;

#define TENT_RESULT_INIT                                             \
  {                                                                  \
    sizeof(struct tent_result), 0, 0, 0, -1, 0u, NULL, NULL, NULL, { \
      0                                                              \
    }                                                                \
  }

struct tent_submit_options {
  uint32_t struct_size;             /* sizeof(struct tent_submit_options) */
  int32_t mode;                     /* TENT_MODE_* */
  const char* notification_name;    /* both NULL: no notification; up to 255 bytes */
  const char* notification_message; /* up to 4095 bytes */
};
typedef struct tent_submit_options tent_submit_options_t;

#define TENT_SUBMIT_OPTIONS_INIT \
  { sizeof(struct tent_submit_options), TENT_MODE_CONFIGURED, NULL, NULL }

struct tent_explain_options {
  uint32_t struct_size;    /* sizeof(struct tent_explain_options) */
  int32_t mode;            /* TENT_MODE_* */
  uint64_t now_ns;         /* the time to decide at; 0: now */
  const char* environment; /* JSON of an environment to plan against; NULL: this machine and the target as it is */
  int32_t surface;         /* TENT_SURFACE_*: for those who build an interface of their own on this one */
  uint32_t reserved;       /* 0 */
};
typedef struct tent_explain_options tent_explain_options_t;

#define TENT_EXPLAIN_OPTIONS_INIT \
  { sizeof(struct tent_explain_options), TENT_MODE_CONFIGURED, 0u, NULL, TENT_SURFACE_V1, 0u }

struct tent_downgrade {
  int32_t field;  /* TENT_FIELD_* */
  int32_t reason; /* TENT_DOWNGRADE_* */
  int64_t from;   /* the number given; 0 for a name */
  int64_t to;
};
typedef struct tent_downgrade tent_downgrade_t;

/* What a request means once it was checked, before any contract or target was asked (RFC "Transfer Intent v1 semantic
 * model"). Refers to no memory of the caller's. */
struct tent_normalized_intent {
  uint32_t struct_size; /* in: sizeof(struct tent_normalized_intent) */
  int32_t opcode;
  int32_t intent_type;
  int32_t requested_priority;
  int32_t transport_hint;
  int32_t deadline_state; /* TENT_DEADLINE_* */
  uint64_t deadline_ns;   /* CLOCK_MONOTONIC; 0: none */
  uint64_t remaining_ns;  /* 0: none, or expired */
  uint64_t target_offset;
  uint64_t length;
  uint64_t flags;
  char policy_name[128]; /* "": none */
  uint32_t reserved;     /* 0 */
  uint32_t downgrade_count;
  struct tent_downgrade downgrades[8];
};
typedef struct tent_normalized_intent tent_normalized_intent_t;

/* major << 16 | minor, of the library. A minor version only adds. */
uint32_t tent_get_api_version(void);
/* The sizes that entries of a schema may have; either pointer may be NULL. TENT_ERROR_UNSUPPORTED_SCHEMA. */
int tent_get_request_schema_info(uint32_t schema_version, size_t* minimum_size, size_t* known_size);

/* Submits `count` entries, `entry_stride` bytes apart. All or nothing: after an error no byte has moved, no task slot
 * is used, no notification was sent. Entries become the next tasks of the batch, in their order. `count` 0 does
 * nothing. */
int tent_submit_requests(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                         size_t entry_stride, uint32_t schema_version);
/* Each target receives the notification once all of these tasks are completed, and not when one ends otherwise. The
 * batch is in flight until it was received; where it cannot be, the batch's overall status is FAILED. */
int tent_submit_requests_notif(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                               size_t entry_stride, uint32_t schema_version, const char* name, const char* message);
/* `options` and `result` may be NULL. `result` is filled in on success too. */
int tent_submit_requests_ex(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                            size_t entry_stride, uint32_t schema_version, const tent_submit_options_t* options,
                            tent_result_t* result);

/* Checks one entry as tent_submit_requests does, as far as no engine is needed: its layout, its fields and its
 * deadline, in the same order and with the same errors. `mode`: TENT_MODE_*, where TENT_MODE_CONFIGURED is strict;
 * `now_ns`: the time to check at; 0: now. */
int tent_normalize_request(const void* entry, size_t entry_stride, uint32_t schema_version, int32_t mode,
                           uint64_t now_ns, tent_normalized_intent_t* out);

/* The error of this thread's last call that had one. Names the entry, where one was to blame. */
int tent_last_error(tent_result_t* result);
/* Why a task ended other than COMPLETED; TENT_OK in `result` while it has not. */
int tent_task_error(tent_engine_t engine, tent_batch_id_t batch, size_t task, tent_result_t* result);

/* What tent_submit_requests would decide: a JSON array with the result object of each entry
 * (schemas/results.schema.json "result"). Submits nothing. `buf` NULL: only sets `len` to the bytes needed, the final
 * NUL included. Too short a buffer is TENT_ERROR_INVALID_ARGUMENT: `len` then says what was needed, and nothing is cut.
 * The message of an entry that would be refused is in its object. */
int tent_explain_requests(tent_engine_t engine, const void* entries, size_t count, size_t entry_stride,
                          uint32_t schema_version, const tent_explain_options_t* options, char* buf, size_t* len);

/* Waits until no task of the batch is in flight. UINT64_MAX: without limit. TENT_ERROR_RUNTIME with
 * TENT_REASON_TIMEOUT when the time passed first. */
int tent_wait_batch(tent_engine_t engine, tent_batch_id_t batch, uint64_t timeout_ns);
/* A descriptor for poll(2): readable while no task of the batch is in flight. The library's; gone with the batch. */
int tent_batch_fd(tent_engine_t engine, tent_batch_id_t batch, int* fd);

uint64_t tent_monotonic_now_ns(void);
/* now + budget. TENT_ERROR_DEADLINE: over UINT64_MAX, or a budget over 30 days. A budget of 0 has expired, which is not
 * the same as none. */
int tent_deadline_after_ns(uint64_t budget_ns, uint64_t* deadline_ns_out);

/* Since 1.1. Replaces what the engine's configuration decides about requests (`qos`, `policy`, `admission`, and the
 * queue pair pools of transports.rdma.endpoint) by that of `source`, a path or a JSON text as
 * tent_load_config_from_file takes: what is submitted from then on goes by it, what is in flight keeps what it was
 * given. A fault leaves everything as it was: TENT_REASON_BAD_CONFIGURATION, and where it is. `result` may be NULL; on
 * success its message names the other keys in which the configuration differs from the engine's, which take a new
 * engine ("" none). */
int tent_reload_policy(tent_engine_t engine, const char* source, tent_result_t* result);

static inline int tent_submit_v1(tent_engine_t engine, tent_batch_id_t batch, const tent_request_v1_t* entries,
                                 size_t count) {
  return tent_submit_requests(engine, batch, entries, count, sizeof(tent_request_v1_t), TENT_REQUEST_SCHEMA_V1);
}

static inline int tent_submit_v1_notif(tent_engine_t engine, tent_batch_id_t batch, const tent_request_v1_t* entries,
                                       size_t count, const char* name, const char* message) {
  return tent_submit_requests_notif(engine, batch, entries, count, sizeof(tent_request_v1_t), TENT_REQUEST_SCHEMA_V1,
                                    name, message);
}

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* TENT_TRANSFER_ENGINE_H */
