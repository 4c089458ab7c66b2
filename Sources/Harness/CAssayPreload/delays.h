// Simulates a slower disk: calls that wait for the device, and writes, are delayed by a minimum time.
#pragma once
#include "state.h"

#pragma GCC visibility push(hidden)

// Keeps errno.
void assay_wait(uint64_t nanoseconds);

// To be called after a call on a watched file that waited for the device, and before the call is counted as complete.
static inline void assay_delay_sync(void) {
    uint64_t delay = atomic_load_explicit(&assay_shared->sync_delay, memory_order_relaxed);
    if (__builtin_expect(delay == 0, 1)) return;
    COUNT(delayed_syncs, 1);
    assay_wait(delay);
}

// To be called after a write to a watched file that did not wait for the device.
static inline void assay_delay_write(void) {
    uint64_t delay = atomic_load_explicit(&assay_shared->write_delay, memory_order_relaxed);
    if (__builtin_expect(delay == 0, 1)) return;
    COUNT(delayed_writes, 1);
    assay_wait(delay);
}

#pragma GCC visibility pop
