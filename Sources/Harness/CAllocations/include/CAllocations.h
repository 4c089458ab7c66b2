// Counts what a program asks of malloc, and leaves the allocator as it is.
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/// Whether this build counts: on Linux with glibc, and without the thread and the address sanitizer, which have a
/// malloc of their own.
int assay_allocations_are_counted(void);

/// Calls of malloc, calloc, realloc and the aligned variants by all threads of this process so far, including threads
/// that have ended.
uint64_t assay_allocations(void);

/// Bytes that the calling thread asked for.
uint64_t assay_allocated_bytes(void);

/// Makes glibc map each block of 128 KiB or more by an mmap of its own, as it does in a program that has just begun.
/// Otherwise it raises that limit when such a block is freed; calloc then writes the zeros of larger blocks itself.
void assay_map_large_blocks(void);

#endif
