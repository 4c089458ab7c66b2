// Counts what a program asks of malloc, and leaves the allocator as it is.
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/// Whether this build counts: with glibc, and without the thread sanitizer, which has a malloc of its own.
int assay_allocations_are_counted(void);

/// Calls of malloc, calloc, realloc and of the aligned ones by all threads of this process so far, those of threads
/// that ended among them.
uint64_t assay_allocations(void);

/// Bytes that the calling thread asked for.
uint64_t assay_allocated_bytes(void);

/// Has the allocator map each block of 128 KiB and more for itself, as it does in a program that has just begun: it
/// raises that bound when such a block is freed, and from then on clears them by hand for calloc.
void assay_map_large_blocks(void);

#endif
