// Buffers for paths, kept off the stack: the program's thread may have a stack of only 16 KiB.
#pragma once
#include <limits.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// PATH_MAX bytes, never NULL. The function that takes a buffer gives it back before it returns. A signal handler that
// interrupts it takes another buffer.
char *assay_room(void);
void assay_room_back(char *room);

// Memory for more than a path. NULL if there is none.
void *assay_pages(size_t length);
void assay_pages_back(void *pages, size_t length);

#pragma GCC visibility pop
