// Which writes to logs a sync has covered. The rules stand in assay_preload.h.
#pragma once
#include "state.h"

#pragma GCC visibility push(hidden)

// What a sync that begins now covers if it ends well.
struct assay_coverage {
    uint64_t completed;
    uint64_t tick;
};

// The file's place, made when it is new.
uint32_t assay_find_log(uint64_t device, uint64_t inode, uint64_t birth, bool is_log);

// A write starts: its tick.
static inline uint64_t assay_tick(void) { return atomic_fetch_add(&assay_shared->clock, 1) + 1; }
// It has returned, and bytes were written.
void assay_log_written(uint32_t log, uint64_t tick, bool is_synced);

static inline struct assay_coverage assay_sync_begins(uint32_t log) {
    struct assay_log *state = &assay_shared->logs[log];
    return (struct assay_coverage){atomic_load(&state->completed), atomic_load(&state->completed_tick)};
}
void assay_sync_succeeded(uint32_t log, struct assay_coverage coverage);
void assay_sync_failed(uint32_t log);

// A sync of everything: takes down what each log's coverage is, then applies it.
struct assay_wide_sync {
    uint32_t count;
    struct assay_coverage logs[ASSAY_LOG_LIMIT];
};
void assay_wide_sync_begins(struct assay_wide_sync *sync);
// Applied to the logs of one device, or of all when `device` is 0.
void assay_wide_sync_succeeded(const struct assay_wide_sync *sync, uint64_t device);

#pragma GCC visibility pop
