// The number of items that a thread has visited: rows, keys, index entries, elements, observers. Scenarios and tests
// check how the number grows with the data, which works on busy machines, too, unlike measuring time. The engine adds
// many items at once, so that loops over rows do no more work.
#pragma once
#include <stdint.h>

extern _Thread_local uint64_t strata_steps;
static inline void strata_note_steps(intptr_t count) { strata_steps += (uint64_t)count; }
// The number for the calling thread, since its start.
static inline uint64_t strata_steps_taken(void) { return strata_steps; }
