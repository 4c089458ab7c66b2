// Facts about an object and its class that Swift's runtime knows and the language does not expose.
#pragma once
#include <stdint.h>

/* The reference counts of a Swift object as one word, read with acquire semantics: after everything that other threads
 * did before they released it. Each strong and each unowned reference changes it; the first weak one replaces them by a
 * side table for good. The word can only be compared with that of another object. */
static inline uint64_t strata_reference_counts(const void *object) {
    return __atomic_load_n((const uint64_t *)object + 1, __ATOMIC_ACQUIRE);
}

/* The word of `object`, to which the caller must have the only reference: an object with an equal word has a single
 * reference, too. 0, which no living object has, if the word does not change with every kind of reference. */
uint64_t strata_counts_alone(void *object);

// Retains a Swift object to which only the caller has a reference, without atomics.
void strata_retain_alone(void *object);

// The run of assignments of the calling thread, while it assigns given values to an unmanaged object and to the objects
// nested in it; else NULL. The caller of strata_keep_assignments keeps the run alive.
void *strata_assignments(void);
void strata_keep_assignments(void *run);

// The deinit of the objects' base class calls it first, after the deinits of the program's subclasses. It does nothing:
// strata_ends_plainly looks for the call.
void strata_object_ends(void);

/* Whether the destructor of a class calls strata_object_ends before anything else, so that the program has given the
 * class no deinit. The argument is the class. The function decodes the destructor's code, follows jumps and calls, and
 * returns 0 at an unknown instruction, or at one that does more than move data between registers and the stack. */
int strata_ends_plainly(const void *metadata);
