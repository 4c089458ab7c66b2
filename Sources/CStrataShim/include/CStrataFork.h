// What a forked process has of its parent's files: nothing.
#pragma once
#include <stddef.h>
#include <stdint.h>

// How many forks lie between the first process of this program and this one. Not for writing.
extern uint32_t strata_forks;
static inline uint32_t strata_fork_count(void) { return __atomic_load_n(&strata_forks, __ATOMIC_RELAXED); }

// No fork begins until they are let go on: what a child has to let go of is made and noted, or given up and forgotten,
// in one piece. Held for a few calls of the system, by one thread at a time, and never twice by one.
void strata_hold_forks(void);
void strata_release_forks(void);

// From now on the descriptor is closed in every process that is forked off. Returns 0, or -1 without memory. Forks are
// held since before it was opened.
int strata_note_descriptor(int fd);
// Forks are held until it is closed.
void strata_forget_descriptor(int fd);

// In a process that was just forked off: lets go of all watched maps. They read zeros from then on, with their damage
// marked. Calls nothing but mmap.
void strata_forget_maps(void);

// Zeroed memory of the system's, not of the heap's. NULL where there is none.
void *strata_take_memory(size_t bytes);
