#if defined(__linux__)
#include "operation.h"
#include <stdarg.h>
#include <sys/syscall.h>

// What a system call that is made by its number means for the counts, as far as the number tells.
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

static void note_unseen(const char *what) {
    COUNT(unseen_calls, 1);
    ASSAY_UNSTRUCK(unseen);
    if (!assay_trace_begin()) return;
    assay_trace_past(what);
    assay_trace_unlock();
}

static void note_call(void) { note_unseen("a system call by its number"); }

// During a trace: makes a system call by the interposed function of its name. False if there is none for its number.
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
        if (assay_target_of((int)words[0]).kind != ASSAY_OUTSIDE) note_call();
        return;
    case CHANGES_THIRD:
        if (assay_target_of((int)words[2]).kind != ASSAY_OUTSIDE) note_call();
        return;
    case USES_RING:
        note_unseen("a ring (io_uring, libaio)");
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
    // Always six words, the most that a call takes: the kernel ignores those that the caller did not pass.
    for (int index = 0; index < 6; index++) words[index] = va_arg(arguments, long);
    va_end(arguments);
    long result;
    if (is_led(number, words, &result)) return result;
    note(number, words);
    return NEXT(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// MARK: POSIX asynchronous I/O, by threads of libc

static bool is_watched(int fd) {
    return atomic_load_explicit(&assay_is_watching, memory_order_relaxed)
        && assay_target_of(fd).kind != ASSAY_OUTSIDE;
}

// Only the blocks of a list may be NULL.
#define NOTE(block)                                                                                                   \
    do {                                                                                                              \
        if (is_watched((block)->aio_fildes)) note_unseen("asynchronous I/O of POSIX (aio)");                          \
    } while (0)
#define NOTE_ALL(blocks, count)                                                                                       \
    for (int index = 0; index < (count); index++) {                                                                   \
        if ((blocks)[index] && (blocks)[index]->aio_lio_opcode == LIO_WRITE) NOTE((blocks)[index]);                    \
    }

EXPORTED int aio_write(struct aiocb *block) {
    NOTE(block);
    return NEXT(aio_write)(block);
}

EXPORTED int aio_write64(struct aiocb64 *block) {
    NOTE(block);
    return NEXT(aio_write64)(block);
}

EXPORTED int aio_fsync(int kind, struct aiocb *block) {
    NOTE(block);
    return NEXT(aio_fsync)(kind, block);
}

EXPORTED int aio_fsync64(int kind, struct aiocb64 *block) {
    NOTE(block);
    return NEXT(aio_fsync64)(kind, block);
}

EXPORTED int lio_listio(int mode, struct aiocb *const blocks[], int count, struct sigevent *event) {
    NOTE_ALL(blocks, count)
    return NEXT(lio_listio)(mode, blocks, count, event);
}

EXPORTED int lio_listio64(int mode, struct aiocb64 *const blocks[], int count, struct sigevent *event) {
    NOTE_ALL(blocks, count)
    return NEXT(lio_listio64)(mode, blocks, count, event);
}
#endif
