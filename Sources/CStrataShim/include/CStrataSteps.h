// How much a thread has looked at: rows, keys, entries of an index, elements, observers. Scenarios and tests hold how
// work grows by it, on busy machines too. Noted for many at once, so that no loop over rows does more for it.
#pragma once
#include <stdint.h>

extern _Thread_local uint64_t strata_steps;
static inline void strata_note_steps(intptr_t count) { strata_steps += (uint64_t)count; }
// Of the running thread, since it began.
static inline uint64_t strata_steps_taken(void) { return strata_steps; }
