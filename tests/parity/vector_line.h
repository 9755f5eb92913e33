/* A vector as a line of words, as the programs of tests/parity read them: surfaces.py writes them. */
#ifndef TENT_TESTS_PARITY_VECTOR_LINE_H
#define TENT_TESTS_PARITY_VECTOR_LINE_H

#include "tent/transfer_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kLineMax = 1 << 15, kNameMax = 1024, kTailMax = 8192 };

struct vector_line {
  int32_t mode;
  uint64_t now_ns;
  struct tent_request_v1 entry; /* policy_name points to `name`, or is NULL */
  int32_t legacy_priority;
  uint32_t schema_version; /* of the call */
  uint64_t stride;
  uint64_t misalign;
  size_t tail_size;
  size_t name_size;
  char name[kNameMax + 1];
  unsigned char tail[kTailMax];
};

/* 1: a vector was read, 0: the input has ended. Ends the program on a line that is no vector. */
int read_vector(struct vector_line* out);

/* The text of a file; ends the program where there is none. To be freed. */
char* read_text(const char* path);

/* What both programs end with where they cannot go on. */
void give_up(const char* what, const char* why);

#ifdef __cplusplus
}
#endif

#endif
