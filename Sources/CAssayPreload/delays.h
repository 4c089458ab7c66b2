// A disk that is slower than it is: calls that wait for the device, and writes, take so much longer at least.
#pragma once
#include "state.h"

#pragma GCC visibility push(hidden)

// Leaves errno as it is.
void assay_wait(uint64_t nanoseconds);

// After a call to a watched file that waited for the device, and before anybody hears that it is over.
static inline void assay_delay_sync(void) {
    uint64_t delay = atomic_load_explicit(&assay_shared->sync_delay, memory_order_relaxed);
    if (__builtin_expect(delay == 0, 1)) return;
    COUNT(delayed_syncs, 1);
    assay_wait(delay);
}

// After a write to a watched file that did not.
static inline void assay_delay_write(void) {
    uint64_t delay = atomic_load_explicit(&assay_shared->write_delay, memory_order_relaxed);
    if (__builtin_expect(delay == 0, 1)) return;
    COUNT(delayed_writes, 1);
    assay_wait(delay);
}

#pragma GCC visibility pop
