#if defined(__linux__)
#include "operation.h"
#include <stdarg.h>
#include <sys/syscall.h>

// What a system call by number does that the counts would have to know, as far as its number says.
enum meaning { NOTHING, CHANGES_FIRST, CHANGES_THIRD, USES_RING, RENAMES, CLOSES };

static enum meaning meaning_of(long number) {
    switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync_file_range:
    case SYS_syncfs:
    case SYS_ftruncate:
    case SYS_fallocate:
        return CHANGES_FIRST;
    case SYS_copy_file_range:
        return CHANGES_THIRD;
    case SYS_io_submit:
    case SYS_io_uring_setup:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
        return USES_RING;
    case SYS_renameat2:
        return RENAMES;
    case SYS_close:
        return CLOSES;
    default:
        return NOTHING;
    }
}

static void note_unseen(void) {
    COUNT(unseen_calls, 1);
    ASSAY_UNSTRUCK(unseen);
    if (!assay_trace_begin()) return;
    assay_trace_unseen("a system call by its number, or a ring");
    assay_trace_unlock();
}

// Those that are led to the function of the same name while a trace is kept. False for others.
static bool is_led(long number, const long words[6], long *result) {
    if (!assay_traces()) return false;
    switch (number) {
    case SYS_write:
        *result = write((int)words[0], (const void *)words[1], (size_t)words[2]);
        return true;
    case SYS_pwrite64:
        *result = pwrite64((int)words[0], (const void *)words[1], (size_t)words[2], words[3]);
        return true;
    case SYS_writev:
        *result = writev((int)words[0], (const struct iovec *)words[1], (int)words[2]);
        return true;
    case SYS_fsync:
        *result = fsync((int)words[0]);
        return true;
    case SYS_fdatasync:
        *result = fdatasync((int)words[0]);
        return true;
    case SYS_ftruncate:
        *result = ftruncate64((int)words[0], words[1]);
        return true;
    case SYS_fallocate:
        *result = fallocate64((int)words[0], (int)words[1], words[2], words[3]);
        return true;
    case SYS_openat:
        *result = openat64((int)words[0], (const char *)words[1], (int)words[2], (mode_t)words[3]);
        return true;
    case SYS_renameat2:
        *result = renameat2(
            (int)words[0], (const char *)words[1], (int)words[2], (const char *)words[3], (unsigned)words[4]);
        return true;
    case SYS_unlinkat:
        *result = unlinkat((int)words[0], (const char *)words[1], (int)words[2]);
        return true;
    default:
        return false;
    }
}

static void note(long number, const long words[6]) {
    if (!atomic_load_explicit(&assay_is_watching, memory_order_relaxed)) return;
    switch (meaning_of(number)) {
    case NOTHING:
        return;
    case CHANGES_FIRST:
        if (assay_target_of((int)words[0]).kind != ASSAY_OUTSIDE) note_unseen();
        return;
    case CHANGES_THIRD:
        if (assay_target_of((int)words[2]).kind != ASSAY_OUTSIDE) note_unseen();
        return;
    case USES_RING:
        note_unseen();
        return;
    case RENAMES:
        if (assay_is_path_below_root((int)words[0], (const char *)words[1])
            || assay_is_path_below_root((int)words[2], (const char *)words[3]))
            COUNT(renames, 1);
        return;
    case CLOSES:
        assay_forget((int)words[0]);
        return;
    }
}

EXPORTED long syscall(long number, ...) {
    long words[6];
    va_list arguments;
    va_start(arguments, number);
    // As many as there can be: those that the caller did not pass are not looked at by the kernel either.
    for (int index = 0; index < 6; index++) words[index] = va_arg(arguments, long);
    va_end(arguments);
    long result;
    if (is_led(number, words, &result)) return result;
    note(number, words);
    return NEXT(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
#endif
