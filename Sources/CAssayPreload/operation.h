// One call on one descriptor, from before it is passed on until it has returned: what is to be counted, and later what
// is to be recorded or refused, goes into these two moments.
#pragma once
#include "calls.h"
#include "delays.h"
#include "descriptors.h"
#include "witness.h"
#include <errno.h>

#pragma GCC visibility push(hidden)

struct assay_operation {
    enum assay_call call;
    struct assay_target target;
    // Of a write to a watched file.
    uint64_t tick;
    // Of a sync of one.
    struct assay_coverage coverage;
};

static inline struct assay_operation assay_begin(enum assay_call call, int fd) {
    struct assay_operation operation = {.call = call, .target = assay_target_of(fd)};
    if (assay_is_file(operation.target)) {
        if (assay_effect_of(call) == ASSAY_WRITES) operation.tick = assay_tick();
        if (assay_effect_of(call) == ASSAY_SYNCS) operation.coverage = assay_sync_begins(operation.target.log);
    }
    return operation;
}

// `is_synced`: by the call's own flags; those of the descriptor are added.
static inline ssize_t assay_end_write(const struct assay_operation *operation, ssize_t written, bool is_synced) {
    struct assay_target target = operation->target;
    if (!assay_is_file(target)) return written;
    uint64_t bytes = written > 0 ? (uint64_t)written : 0;
    is_synced = is_synced || target.is_synced;
    COUNT(write_calls, 1);
    COUNT(written_bytes, bytes);
    if (is_synced) COUNT(synced_write_calls, 1);
    if (target.kind == ASSAY_LOG) {
        COUNT(log_write_calls, 1);
        COUNT(log_written_bytes, bytes);
    }
    if (is_synced) assay_delay_sync();
    else assay_delay_write();
    if (bytes > 0) assay_log_written(target.log, operation->tick, is_synced);
    return written;
}

static inline ssize_t assay_end_read(const struct assay_operation *operation, ssize_t count) {
    if (!assay_is_file(operation->target)) return count;
    COUNT(read_calls, 1);
    COUNT(read_bytes, count > 0 ? (uint64_t)count : 0);
    return count;
}

// Whether a failed sync may have lost what was waiting: not when it was interrupted, or never began.
static inline bool assay_loses(int error) { return error != EINTR && error != EBADF && error != EINVAL && error != EROFS; }

static inline int assay_end_sync(const struct assay_operation *operation, int result) {
    struct assay_target target = operation->target;
    if (target.kind == ASSAY_DIRECTORY) {
        COUNT(directory_syncs, 1);
        assay_delay_sync();
    }
    if (!assay_is_file(target)) return result;
    COUNT(sync_calls, 1);
    if (result != 0) COUNT(failed_sync_calls, 1);
    assay_delay_sync();
    if (result == 0) assay_sync_succeeded(target.log, operation->coverage);
    if (result != 0 && assay_loses(errno)) assay_sync_failed(target.log);
    return result;
}

#pragma GCC visibility pop

// A wrapper whose only work is to pass the call on between the two moments.
#define BEGIN(name, fd) struct assay_operation operation = assay_begin(ASSAY_CALL_##name, fd)
