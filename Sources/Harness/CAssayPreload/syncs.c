#if defined(__linux__)
#include "operation.h"
#include "past.h"
#include "room.h"
#include <sys/stat.h>
#include <sys/syscall.h>

// During a trace, a sync is a system call with the mark that the filter lets pass (past.h).
#define SYNC(name, fd) (assay_traces() ? assay_seen_sync(SYS_##name, fd, 0, 0) : NEXT(name)(fd))

EXPORTED int fsync(int fd) {
    assay_sync_begins_here();
    BEGIN_CHANGE(fsync, fd);
    return assay_end_sync(&operation, PASS(SYNC(fsync, fd)));
}

EXPORTED int fdatasync(int fd) {
    assay_sync_begins_here();
    BEGIN_CHANGE(fdatasync, fd);
    return assay_end_sync(&operation, PASS(SYNC(fdatasync, fd)));
}

EXPORTED int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags) {
    BEGIN(sync_file_range, fd);
    int result = NEXT(sync_file_range)(fd, offset, count, flags);
    if (!assay_is_file(operation.target)) return result;
    if (assay_trace_begin()) {
        assay_trace_file(ASSAY_TRACE_WRITE_BACK, operation.target, 0, 0, false);
        assay_trace_unlock();
    }
    COUNT(range_sync_calls, 1);
    // A call that only starts the write-back does not wait.
    if (flags & (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER)) assay_delay_sync();
    return result;
}

// The device of a descriptor, in the form of assay_log.device. 0 if unknown.
static uint64_t device_of(int fd) {
    struct statx status;
    int error = errno;
    bool is_known = statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &status) == 0;
    errno = error;
    return is_known ? (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor : 0;
}

static bool trace_all_begins(void) {
    bool is_held = assay_trace_begin();
    if (is_held) assay_trace_stores();
    return is_held;
}

static void trace_all_ends(bool is_held, bool failed) {
    if (!is_held) return;
    int error = errno;
    assay_trace_name(ASSAY_TRACE_SYNC_ALL, 0, NULL, NULL, failed);
    errno = error;
    assay_trace_unlock();
}

EXPORTED int syncfs(int fd) {
    BEGIN_CHANGE(syncfs, fd);
    if (operation.target.kind == ASSAY_OUTSIDE) return NEXT(syncfs)(fd);
    COUNT(file_system_syncs, 1);
    struct assay_wide_sync *wide = assay_pages(sizeof *wide);
    if (wide) assay_wide_sync_begins(wide);
    bool is_held = trace_all_begins();
    int result = PASS(SYNC(syncfs, fd));
    trace_all_ends(is_held, result != 0);
    assay_delay_sync();
    assay_struck(operation.strike);
    uint64_t device = device_of(fd);
    if (result == 0 && device != 0 && wide) assay_wide_sync_succeeded(wide, device);
    assay_pages_back(wide, sizeof *wide);
    return result;
}

EXPORTED void sync(void) {
    if (!atomic_load(&assay_is_watching)) {
        NEXT(sync)();
        return;
    }
    COUNT(file_system_syncs, 1);
    // sync reports no errors, so it covers nothing.
    bool is_held = trace_all_begins();
    if (is_held) assay_seen_sync(SYS_sync, 0, 0, 0);
    else NEXT(sync)();
    trace_all_ends(is_held, false);
}
#endif
