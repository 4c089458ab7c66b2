// Keeps a forked process from sharing its parent's open files, locks and maps.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The number of forks between the first process of this program and this one. Read-only.
extern uint32_t strata_forks;
static inline uint32_t strata_fork_count(void) { return __atomic_load_n(&strata_forks, __ATOMIC_RELAXED); }

// Blocks forks until they are allowed again, so that a resource that a child must drop is created and noted, or
// released and forgotten, atomically. Held for a few system calls, by one thread at a time, not recursively.
void strata_hold_forks(void);
void strata_release_forks(void);

// From now on every forked process closes the descriptor. Returns 0, or -1 if memory or the fork handlers are missing.
// The caller has held forks since before it opened the descriptor.
int strata_note_descriptor(int fd);
// The caller holds forks until it has closed the descriptor.
void strata_forget_descriptor(int fd);

// Called in a process that was just forked: drops all watched maps, which read as zeros from then on, with their
// damage marked. Calls nothing but mmap.
void strata_forget_maps(void);

// Zeroed memory from the system, not from the heap. NULL if there is none.
void *strata_take_memory(size_t bytes);
