// One call on one descriptor: its begin, before the call is passed on, and its end, after it has returned. Begin and
// end count the call, record it for the trace, and apply the fault.
#pragma once
#include "calls.h"
#include "delays.h"
#include "descriptors.h"
#include "failing.h"
#include "naming.h"
#include "witness.h"
#include <errno.h>

#pragma GCC visibility push(hidden)

struct assay_operation {
    enum assay_call call;
    struct assay_target target;
    // For a write to a watched file.
    uint64_t tick;
    // For a sync of a watched file.
    struct assay_coverage coverage;
    struct assay_strike strike;
    // For a recorded call: the trace's lock is held until its end. If `parts` is NULL, the written bytes are read back.
    bool is_traced;
    struct assay_source source;
    int fd;
    const struct iovec *parts;
    int part_count;
    // -1: at the descriptor's own offset.
    int64_t offset;
};

// Takes the trace's lock, which the end of the operation releases.
static inline void assay_trace_operation(struct assay_operation *operation) {
    if (operation->target.kind == ASSAY_OUTSIDE) return;
    operation->is_traced = assay_trace_begin();
    if (operation->is_traced && assay_effect_of(operation->call) != ASSAY_WRITES) assay_trace_stores();
    if (operation->is_traced && operation->target.kind == ASSAY_OUTPUT) assay_trace_stores();
}

static inline struct assay_operation assay_begin(enum assay_call call, int fd) {
    struct assay_operation operation = {
        .call = call, .target = assay_target_of(fd), .fd = fd, .offset = -1, .source = {-1, -1}};
    bool changes = assay_effect_of(call) == ASSAY_WRITES || assay_effect_of(call) == ASSAY_SYNCS;
    if (__builtin_expect(assay_traces(), 0) && changes) assay_trace_operation(&operation);
    if (assay_is_file(operation.target)) {
        if (assay_effect_of(call) == ASSAY_WRITES) operation.tick = assay_tick();
        if (assay_effect_of(call) == ASSAY_SYNCS) operation.coverage = assay_sync_begins(operation.target.log);
    }
    return operation;
}

// Kind of a call on a descriptor, for faults.
static inline enum assay_fault_kind assay_fault_kind_of(enum assay_call call, struct assay_target target) {
    bool is_file = assay_is_file(target);
    switch (call) {
    case ASSAY_CALL_syncfs:
        return ASSAY_FAULT_SYNC;
    case ASSAY_CALL_ftruncate:
    case ASSAY_CALL_ftruncate64:
        return is_file ? ASSAY_FAULT_TRUNCATE : ASSAY_FAULT_NONE;
    case ASSAY_CALL_fallocate:
    case ASSAY_CALL_fallocate64:
    case ASSAY_CALL_posix_fallocate:
    case ASSAY_CALL_posix_fallocate64:
        return is_file ? ASSAY_FAULT_ALLOCATE : ASSAY_FAULT_NONE;
    default:
        if (assay_effect_of(call) == ASSAY_SYNCS && target.kind == ASSAY_DIRECTORY) return ASSAY_FAULT_SYNC_DIRECTORY;
        if (!is_file) return ASSAY_FAULT_NONE;
        if (assay_effect_of(call) == ASSAY_SYNCS) return ASSAY_FAULT_SYNC;
        if (assay_effect_of(call) == ASSAY_WRITES) return ASSAY_FAULT_WRITE;
        return assay_effect_of(call) == ASSAY_READS ? ASSAY_FAULT_READ : ASSAY_FAULT_NONE;
    }
}

// Asks whether the fault strikes the call. `size`: the bytes of a read or a write.
static inline void assay_meet_fault(struct assay_operation *operation, size_t size) {
    if (operation->target.kind == ASSAY_OUTSIDE) return;
    operation->strike = assay_strike(assay_fault_kind_of(operation->call, operation->target), size);
}

// About half of the bytes: whole sectors, if half is a sector or more.
static inline size_t assay_half(size_t size) { return size / 2 < 512 ? size / 2 : size / 2 / 512 * 512; }

// The number of bytes to pass on to the kernel.
static inline size_t assay_part(const struct assay_operation *operation, size_t size) {
    return __builtin_expect(operation->strike.is_short, 0) ? assay_half(size) : size;
}

static inline size_t assay_size_of(const struct iovec *parts, int count) {
    size_t size = 0;
    for (int index = 0; index < count; index++) size += parts[index].iov_len;
    return size;
}

// The number of parts to pass on to the kernel, for a call with several parts. A short transfer passes the parts that
// fit into half of the bytes, or, in `single`, the beginning of the first part with any bytes.
static inline int assay_part_of(
    const struct assay_operation *operation, const struct iovec **parts, int count, struct iovec *single) {
    if (__builtin_expect(!operation->strike.is_short, 1)) return count;
    size_t half = assay_half(assay_size_of(*parts, count)), done = 0;
    for (int index = 0; index < count; index++) {
        size_t next = done + (*parts)[index].iov_len;
        if (next > half && done > 0) return index;
        if (next > half) {
            *single = (struct iovec){(*parts)[index].iov_base, half};
            *parts = single;
            return 1;
        }
        done = next;
    }
    return count;
}

static inline ssize_t assay_passed(ssize_t result) {
    if (__builtin_expect(result == -1, 0)) assay_note_denied(errno);
    return result;
}

// The result of the call; or, if the fault fails it, -1 with errno, and the call is not made.
#define PASS(call)                                                                                                    \
    (__builtin_expect(operation.strike.error != 0, 0) ? (errno = operation.strike.error, -1) : assay_passed(call))

// `is_synced`: whether the call's own flags make the write durable; flags of the descriptor may do so, too.
static inline ssize_t assay_end_write(const struct assay_operation *operation, ssize_t written, bool is_synced) {
    struct assay_target target = operation->target;
    if (__builtin_expect(operation->is_traced, 0)) {
        assay_trace_write(
            target, operation->fd, operation->parts, operation->part_count, operation->offset, written,
            is_synced || target.is_synced, operation->source);
        assay_trace_unlock();
    }
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
    assay_struck(operation->strike);
    return written;
}

static inline ssize_t assay_end_read(const struct assay_operation *operation, ssize_t count) {
    if (!assay_is_file(operation->target)) return count;
    COUNT(read_calls, 1);
    COUNT(read_bytes, count > 0 ? (uint64_t)count : 0);
    assay_struck(operation->strike);
    return count;
}

// Whether a failed sync may have lost the writes that it should have covered: not if it was interrupted, or never
// began.
static inline bool assay_loses(int error) { return error != EINTR && error != EBADF && error != EINVAL && error != EROFS; }

static inline int assay_end_sync(const struct assay_operation *operation, int result) {
    struct assay_target target = operation->target;
    if (__builtin_expect(operation->is_traced, 0)) {
        assay_trace_sync(target, operation->fd, result);
        assay_trace_unlock();
    }
    if (target.kind == ASSAY_DIRECTORY) {
        COUNT(directory_syncs, 1);
        assay_delay_sync();
        assay_struck(operation->strike);
    }
    if (!assay_is_file(target)) return result;
    COUNT(sync_calls, 1);
    if (result != 0) COUNT(failed_sync_calls, 1);
    assay_delay_sync();
    if (result == 0) assay_sync_succeeded(target.log, operation->coverage);
    if (result != 0 && assay_loses(errno)) assay_sync_failed(target.log);
    assay_struck(operation->strike);
    return result;
}

#pragma GCC visibility pop

// The begin of a call on a descriptor.
#define BEGIN(name, fd) struct assay_operation operation = assay_begin(ASSAY_CALL_##name, fd)
// The begin of a read or a write with its fault, which may reduce `size`, a variable of the caller.
#define BEGIN_BYTES(name, fd, size)                                                                                   \
    BEGIN(name, fd);                                                                                                  \
    assay_meet_fault(&operation, size);                                                                               \
    size = assay_part(&operation, size)
#define BEGIN_PARTS(name, fd, parts, count)                                                                           \
    BEGIN(name, fd);                                                                                                  \
    struct iovec single;                                                                                              \
    assay_meet_fault(&operation, assay_strikes() ? assay_size_of(parts, count) : 0);                                  \
    count = assay_part_of(&operation, &parts, count, &single)
// The begin of a call that transfers no bytes, with its fault.
#define BEGIN_CHANGE(name, fd)                                                                                        \
    BEGIN(name, fd);                                                                                                  \
    assay_meet_fault(&operation, 0)

// For a call that takes one or two paths and changes their names: counted, and subject to a fault, if one of them is
// watched. `change`: the arguments of assay_naming_begin.
#define CHANGE_PATH(is_watched, field, kind, change, call)                                                            \
    struct assay_naming naming;                                                                                       \
    assay_naming_begin change;                                                                                        \
    bool counts = is_watched;                                                                                         \
    if (counts) COUNT(field, 1);                                                                                      \
    struct {                                                                                                          \
        struct assay_strike strike;                                                                                   \
    } operation = {counts ? assay_strike(kind, 0) : (struct assay_strike){0}};                                        \
    int result = PASS(call);                                                                                          \
    assay_naming_end(&naming, result);                                                                                \
    assay_struck(operation.strike);                                                                                   \
    return result
