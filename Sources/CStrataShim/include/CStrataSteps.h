// The number of items that a thread has visited: rows, keys, index entries, elements, observers. Scenarios and tests
// check how it grows, on busy machines too. Added for many items at once, so that loops over rows do no more work.
#pragma once
#include <stdint.h>

extern _Thread_local uint64_t strata_steps;
static inline void strata_note_steps(intptr_t count) { strata_steps += (uint64_t)count; }
// Of the running thread, since its start.
static inline uint64_t strata_steps_taken(void) { return strata_steps; }
