// Keeps a forked process from sharing its parent's open files, locks and maps.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The number of forks between the first process of this program and this one. Read-only.
extern uint32_t strata_forks;
static inline uint32_t strata_fork_count(void) { return __atomic_load_n(&strata_forks, __ATOMIC_RELAXED); }

// Blocks forks until strata_release_forks, so that the calling thread creates and notes, or releases and forgets, a
// resource that a child must drop, in one step as a child sees it. One thread at a time holds forks, for a few system
// calls, and not recursively.
void strata_hold_forks(void);
void strata_release_forks(void);

// From now on every forked process closes the descriptor. Returns 0, or -1 if memory or the fork handlers are missing.
// The caller has held forks since before it opened the descriptor.
int strata_note_descriptor(int fd);
// The caller holds forks until it has closed the descriptor.
void strata_forget_descriptor(int fd);

// The handler of forks calls it in the child: it drops all watched maps, which read as zeros from then on, with their
// damage marked. It calls nothing but mmap.
void strata_forget_maps(void);

// Zeroed memory from the system, not from the heap. NULL if there is none.
void *strata_take_memory(size_t bytes);
