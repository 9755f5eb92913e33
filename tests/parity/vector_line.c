#include "vector_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void give_up(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(4);
}

static uint64_t number(char** rest) {
  const char* word = strtok_r(NULL, " ", rest);
  if (word == NULL) give_up("a line", "has too few words");
  return word[0] == '-' ? (uint64_t)strtoll(word, NULL, 10) : strtoull(word, NULL, 10);
}

/* "-": nothing; else '=' and hexadecimal digits. */
static size_t bytes(char** rest, unsigned char* out, size_t room, int* given) {
  const char* word = strtok_r(NULL, " \n", rest);
  size_t size = 0;
  if (word == NULL) give_up("a line", "has too few words");
  *given = word[0] == '=';
  for (const char* digit = word + 1; *given && digit[0] != '\0' && digit[1] != '\0'; digit += 2) {
    const char pair[3] = {digit[0], digit[1], '\0'};
    if (size == room) give_up("a line", "has too long a name or tail");
    out[size++] = (unsigned char)strtoul(pair, NULL, 16);
  }
  return size;
}

int read_vector(struct vector_line* out) {
  static char line[kLineMax];
  char* rest = NULL;
  const char* first;
  int given = 0;
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  memset(out, 0, offsetof(struct vector_line, name));
  first = strtok_r(line, " ", &rest);
  if (first == NULL) give_up("a line", "is empty");
  out->mode = (int32_t)strtol(first, NULL, 10);
  out->now_ns = number(&rest);
  out->entry.struct_size = (uint32_t)number(&rest);
  out->entry.schema_version = (uint32_t)number(&rest);
  out->entry.opcode = (int32_t)number(&rest);
  out->entry.reserved_opcode = (uint32_t)number(&rest);
  out->entry.source = (void*)(uintptr_t)number(&rest);
  out->entry.target_offset = number(&rest);
  out->entry.length = number(&rest);
  out->entry.intent_type = (int32_t)number(&rest);
  out->entry.requested_priority = (int32_t)number(&rest);
  out->entry.deadline_ns = number(&rest);
  out->entry.transport_hint = (int32_t)number(&rest);
  out->entry.reserved0 = (uint32_t)number(&rest);
  out->entry.flags = number(&rest);
  out->legacy_priority = (int32_t)number(&rest);
  out->schema_version = (uint32_t)number(&rest);
  out->stride = number(&rest);
  out->misalign = number(&rest);
  out->name_size = bytes(&rest, (unsigned char*)out->name, kNameMax, &given);
  out->name[out->name_size] = '\0';
  out->entry.policy_name = given ? out->name : NULL;
  out->tail_size = bytes(&rest, out->tail, kTailMax, &given);
  return 1;
}

char* read_text(const char* path) {
  FILE* file = fopen(path, "rb");
  size_t size = 0;
  char* text = malloc(1 << 20);
  if (file == NULL || text == NULL) give_up(path, "cannot be read");
  size = fread(text, 1, (1 << 20) - 1, file);
  text[size] = '\0';
  fclose(file);
  return text;
}
