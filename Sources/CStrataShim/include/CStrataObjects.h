// Facts about an object and its class that Swift's runtime knows and the language does not expose.
#pragma once
#include <stdint.h>

/* The reference counts of a Swift object as one word, read with acquire semantics: after everything that other threads
 * did before they released it. Each strong and each unowned reference changes it; the first weak one replaces them by a
 * side table for good. The word can only be compared with that of another object. */
static inline uint64_t strata_reference_counts(const void *object) {
    return __atomic_load_n((const uint64_t *)object + 1, __ATOMIC_ACQUIRE);
}

/* The counts of `object` with the caller's reference only; call it for an object without other references. 0, which no
 * living object has, where the word does not change with every kind of reference. */
uint64_t strata_counts_alone(void *object);

// Retains a Swift object to which only the caller has a reference, without atomics.
void strata_retain_alone(void *object);

// Storage of the running thread while an object takes values from others: NULL otherwise.
void *strata_assignments(void);
void strata_keep_assignments(void *run);

// Called at the end of every object, after the deinits of the program's classes.
void strata_object_ends(void);

/* Whether the destructor of a class calls strata_object_ends before anything else: there is no deinit of the program's.
 * The argument is the class. It decodes the destructor's code, follows jumps and calls, and returns 0 for an unknown
 * instruction, or one that does more than move data between registers and the stack. */
int strata_ends_plainly(const void *metadata);
