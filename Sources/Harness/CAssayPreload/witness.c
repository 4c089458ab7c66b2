#if defined(__linux__)
#include "witness.h"
#include "calls.h"
#include <sched.h>

// The calling thread's last write to each log since its commit began. Allocated with the thread, so that access does
// not allocate.
#define OWN_LIMIT 8
struct own_write {
    uint32_t log;
    // Whether the file was a log at the write. Kept here, because at the end of the commit the file may be removed, and
    // its entry in the list reused for another file with the same inode number: for example, a log that could not be
    // completed is removed, and the data file of another process gets its inode number.
    bool is_log;
    uint64_t number;
};
static __thread struct {
    bool is_committing;
    // The thread wrote to more logs than fit.
    bool is_full;
    uint32_t count;
    struct own_write writes[OWN_LIMIT];
} own __attribute__((tls_model("initial-exec")));

static void raise_to(_Atomic uint64_t *place, uint64_t value) {
    uint64_t seen = atomic_load(place);
    while (seen < value && !atomic_compare_exchange_weak(place, &seen, value)) {}
}

// MARK: The list of logs

// A process killed while it held the lock leaves it locked: a thread that has waited long enough continues without it.
static void lock_list(void) {
    uint32_t expected = 0;
    for (int turn = 0; turn < 100000; turn++) {
        if (atomic_compare_exchange_strong(&assay_shared->list_lock, &expected, 1)) return;
        expected = 0;
        sched_yield();
    }
}

static void unlock_list(void) { atomic_store(&assay_shared->list_lock, 0); }

static void take_over(struct assay_log *log, uint64_t device, uint64_t inode, uint64_t birth, bool is_log) {
    atomic_store(&log->is_log, is_log);
    atomic_store(&log->device, device);
    atomic_store(&log->inode, inode);
    atomic_store(&log->birth, birth);
    atomic_fetch_add(&log->generation, 1);
}

// The least recently written log.
static uint32_t oldest_log(void) {
    uint32_t oldest = 0;
    for (uint32_t index = 1; index < ASSAY_LOG_LIMIT; index++) {
        uint64_t tick = atomic_load(&assay_shared->logs[index].completed_tick);
        if (tick < atomic_load(&assay_shared->logs[oldest].completed_tick)) oldest = index;
    }
    return oldest;
}

uint32_t assay_find_log(uint64_t device, uint64_t inode, uint64_t birth, bool is_log) {
    lock_list();
    uint32_t count = atomic_load(&assay_shared->log_count);
    for (uint32_t index = 0; index < count; index++) {
        struct assay_log *log = &assay_shared->logs[index];
        if (atomic_load(&log->device) != device || atomic_load(&log->inode) != inode) continue;
        // Another file has the inode number of a removed one. The uncovered writes of the removed file stay in the
        // entry until its next sync, so that a commit that wrote to that file and removed it is still judged.
        if (atomic_load(&log->birth) != birth || atomic_load(&log->is_log) != is_log)
            take_over(log, device, inode, birth, is_log);
        unlock_list();
        return index;
    }
    uint32_t index = count < ASSAY_LOG_LIMIT ? count : oldest_log();
    struct assay_log *log = &assay_shared->logs[index];
    if (index < count) raise_to(&log->covered, atomic_load(&log->completed));
    take_over(log, device, inode, birth, is_log);
    if (index == count) atomic_store(&assay_shared->log_count, count + 1);
    unlock_list();
    return index;
}

// MARK: Writes and syncs

static void note_own(uint32_t log, uint64_t number) {
    bool is_log = atomic_load(&assay_shared->logs[log].is_log);
    for (uint32_t index = 0; index < own.count; index++) {
        struct own_write *write = &own.writes[index];
        if (write->log != log || write->is_log != is_log) continue;
        write->number = number;
        return;
    }
    if (own.count == OWN_LIMIT) {
        own.is_full = true;
    } else {
        own.writes[own.count++] = (struct own_write){log, is_log, number};
    }
}

void assay_log_written(uint32_t log, uint64_t tick, bool is_synced) {
    struct assay_log *state = &assay_shared->logs[log];
    if (is_synced) {
        raise_to(&state->durable_tick, tick);
        return;
    }
    raise_to(&state->completed_tick, tick);
    uint64_t number = atomic_fetch_add(&state->completed, 1) + 1;
    if (own.is_committing) note_own(log, number);
}

void assay_sync_succeeded(uint32_t log, struct assay_coverage coverage) {
    raise_to(&assay_shared->logs[log].covered, coverage.completed);
    raise_to(&assay_shared->logs[log].durable_tick, coverage.tick);
}

void assay_sync_failed(uint32_t log) {
    struct assay_log *state = &assay_shared->logs[log];
    uint64_t covered = atomic_load(&state->covered), completed = atomic_load(&state->completed);
    if (completed <= covered) return;
    atomic_store(&state->lost_after, covered);
    atomic_store(&state->lost_through, completed);
    raise_to(&state->lost_tick, atomic_load(&state->completed_tick));
}

void assay_wide_sync_begins(struct assay_wide_sync *sync) {
    sync->count = atomic_load(&assay_shared->log_count);
    for (uint32_t index = 0; index < sync->count; index++) sync->logs[index] = assay_sync_begins(index);
}

void assay_wide_sync_succeeded(const struct assay_wide_sync *sync, uint64_t device) {
    for (uint32_t index = 0; index < sync->count; index++) {
        if (device != 0 && atomic_load(&assay_shared->logs[index].device) != device) continue;
        assay_sync_succeeded(index, sync->logs[index]);
    }
}

// MARK: Commits

EXPORTED void assay_commit_begin(struct assay_commit *commit) {
    own.is_committing = true;
    own.is_full = false;
    own.count = 0;
    commit->clock = assay_shared ? atomic_load(&assay_shared->clock) : 0;
}

static bool is_durable(struct own_write write) {
    struct assay_log *log = &assay_shared->logs[write.log];
    bool is_lost = write.number > atomic_load(&log->lost_after) && write.number <= atomic_load(&log->lost_through);
    return write.number <= atomic_load(&log->covered) && !is_lost;
}

static bool wrote_to_log(void) {
    for (uint32_t index = 0; index < own.count; index++) {
        if (own.writes[index].is_log) return true;
    }
    return own.is_full;
}

// The answer that the files of one role give: logs, or data files.
static int judge(const struct assay_commit *commit, bool by_logs) {
    bool is_touched = false, is_all_covered = true, is_some_covered = false;
    uint32_t count = atomic_load(&assay_shared->log_count);
    for (uint32_t index = 0; index < count; index++) {
        struct assay_log *log = &assay_shared->logs[index];
        if (atomic_load(&log->is_log) != by_logs) continue;
        // Covered is read before completed: in the other order a concurrent sync could make uncovered writes look
        // covered.
        uint64_t covered = atomic_load(&log->covered), completed = atomic_load(&log->completed);
        uint64_t durable = atomic_load(&log->durable_tick), lost = atomic_load(&log->lost_tick);
        if (atomic_load(&log->completed_tick) <= commit->clock && durable <= commit->clock) continue;
        is_touched = true;
        if (covered < completed || lost > commit->clock) is_all_covered = false;
        if (durable > commit->clock && durable > lost) is_some_covered = true;
    }
    if (!is_touched) return ASSAY_COMMIT_NOTHING;
    for (uint32_t index = 0; index < own.count; index++) {
        if (own.writes[index].is_log != by_logs) continue;
        if (!is_durable(own.writes[index])) return ASSAY_COMMIT_UNSYNCED;
    }
    if (is_all_covered) return ASSAY_COMMIT_SYNCED;
    return is_some_covered && !own.is_full ? ASSAY_COMMIT_GROUPED : ASSAY_COMMIT_UNSYNCED;
}

EXPORTED int assay_commit_end(struct assay_commit *commit) {
    own.is_committing = false;
    if (!assay_shared) return ASSAY_COMMIT_NOTHING;
    int answer = judge(commit, true);
    if (answer == ASSAY_COMMIT_NOTHING) return judge(commit, false);
    // Other threads wrote to logs, but this one did not: it made its data durable without a log.
    if (answer == ASSAY_COMMIT_UNSYNCED && !wrote_to_log() && judge(commit, false) == ASSAY_COMMIT_SYNCED)
        return ASSAY_COMMIT_SYNCED;
    return answer;
}

// Whether all files of a role that the thread wrote to are durable.
static bool is_own_durable(bool by_logs, bool *has_written) {
    bool is_durable_all = true;
    for (uint32_t index = 0; index < own.count; index++) {
        if (own.writes[index].is_log != by_logs) continue;
        *has_written = true;
        if (!is_durable(own.writes[index])) is_durable_all = false;
    }
    return is_durable_all;
}

EXPORTED int assay_commit_own(void) {
    if (!assay_shared || own.is_full || own.count == 0) return ASSAY_COMMIT_NOTHING;
    bool has_logs = false, has_data = false;
    bool is_log_durable = is_own_durable(true, &has_logs), is_data_durable = is_own_durable(false, &has_data);
    bool is_durable_by_one = (has_logs && is_log_durable) || (has_data && is_data_durable);
    return is_durable_by_one ? ASSAY_COMMIT_SYNCED : ASSAY_COMMIT_UNSYNCED;
}
#endif
