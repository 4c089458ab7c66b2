// What Swift's runtime knows of an object and its class, and the language does not tell.
#pragma once
#include <stdint.h>

/* The counts of references to a Swift object as one word, read behind everything that other threads did before they let
 * go of it. Each strong and each unowned reference changes it; so does the first weak one, for good, by which a table
 * takes the place of the counts. What the word means is not told: it can be compared with that of another object. */
static inline uint64_t strata_reference_counts(const void *object) {
    return __atomic_load_n((const uint64_t *)object + 1, __ATOMIC_ACQUIRE);
}

/* What the counts of `object` are with the one reference that the caller has to it; to be asked of one that nobody else
 * knows. 0, which no living object has, where the word does not change with every kind of reference. */
uint64_t strata_counts_alone(void *object);

// Counts a Swift object up that nobody but the caller refers to, on any thread.
void strata_retain_alone(void *object);

// What the running thread keeps while an object takes values from others: NULL when none does.
void *strata_assignments(void);
void strata_keep_assignments(void *run);

// Called by the end of every object, behind whatever the program's classes do at theirs.
void strata_object_ends(void);

/* Whether the end of the objects of a class gets to strata_object_ends without doing anything before: without a deinit
 * of the program's. The argument is the class. It reads the code of its destructor, follows jumps and calls, and says 0
 * where there is anything that it does not know, or that is no move between registers and the stack. */
int strata_ends_plainly(const void *metadata);
