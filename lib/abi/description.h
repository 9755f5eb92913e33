/* The description of the header that libtent.so carries, for tent-abi-check: what a compiler made of its constants and
 * layouts, as debug information does not tell of macros and is stripped from packages.
 *
 * It is a section of the library, not a file beside it, so that it cannot be taken for another library's; it is loaded,
 * so that strip leaves it; it has no symbol. The header is followed by `count` pairs of numbers and by `text_bytes` of
 * text, the terminating NUL included: for each pair a line
 *
 *     constant NAME              its value in two's complement; 1 where that is negative
 *     macro NAME TEXT            0, 0: what has no value
 *     struct NAME                size, alignment
 *     member STRUCT NAME TYPE    offset, size; behind its struct, in order
 *     function NAME PROTOTYPE    0, 0: "int (size_t, const char*)"
 *     inline NAME PROTOTYPE      0, 0
 *
 * Numbers have the byte order of the library.
 */
#ifndef TENT_ABI_DESCRIPTION_H
#define TENT_ABI_DESCRIPTION_H

#include <stdint.h>

#define TENT_ABI_DESCRIPTION_SECTION ".tent.abi"
#define TENT_ABI_DESCRIPTION_MAGIC "TENTABI1"
#define TENT_ABI_DESCRIPTION_PLACE \
  __attribute__((section(TENT_ABI_DESCRIPTION_SECTION), visibility("hidden"), used, aligned(8)))

struct tent_abi_description_header { /* NOLINT(readability-identifier-naming): a name of C */
  char magic[8];                     /* not terminated */
  uint32_t count;
  uint32_t text_bytes;
};

#endif /* TENT_ABI_DESCRIPTION_H */
