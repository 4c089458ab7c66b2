// Which writes to logs are covered by a sync. The rules are in assay_preload.h.
#pragma once
#include "state.h"

#pragma GCC visibility push(hidden)

// The writes that a sync covers if it succeeds, taken when it begins.
struct assay_coverage {
    uint64_t completed;
    uint64_t tick;
};

// The index of a file in the list of logs. A file that is not in the list gets an entry.
uint32_t assay_find_log(uint64_t device, uint64_t inode, uint64_t birth, bool is_log);

// The tick of a starting write.
static inline uint64_t assay_tick(void) { return atomic_fetch_add(&assay_shared->clock, 1) + 1; }
// To be called when that write has returned, if bytes were written.
void assay_log_written(uint32_t log, uint64_t tick, bool is_synced);

static inline struct assay_coverage assay_sync_begins(uint32_t log) {
    struct assay_log *state = &assay_shared->logs[log];
    return (struct assay_coverage){atomic_load(&state->completed), atomic_load(&state->completed_tick)};
}
void assay_sync_succeeded(uint32_t log, struct assay_coverage coverage);
void assay_sync_failed(uint32_t log);

// A sync of all files: stores each log's coverage at its begin, and applies it on success.
struct assay_wide_sync {
    uint32_t count;
    struct assay_coverage logs[ASSAY_LOG_LIMIT];
};
void assay_wide_sync_begins(struct assay_wide_sync *sync);
// Applies the coverage to the logs of one device, or to all logs if `device` is 0.
void assay_wide_sync_succeeded(const struct assay_wide_sync *sync, uint64_t device);

#pragma GCC visibility pop
