// Memory for paths, so that the stack of the program's thread holds none: a thread may have been given 16 KiB in all.
#pragma once
#include <limits.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// PATH_MAX bytes, never NULL. The function that takes them gives them back before it returns. A handler of a signal
// that comes in between takes others.
char *assay_room(void);
void assay_room_back(char *room);

// More than a path. NULL where there is no memory.
void *assay_pages(size_t length);
void assay_pages_back(void *pages, size_t length);

#pragma GCC visibility pop
