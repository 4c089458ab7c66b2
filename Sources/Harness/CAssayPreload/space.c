#if defined(__linux__)
#include "operation.h"

#define COUNT_TRUNCATION(name, fd)                                                                                    \
    BEGIN_CHANGE(name, fd);                                                                                           \
    begin_trace(&operation);                                                                                          \
    if (assay_is_file(operation.target)) COUNT(truncations, 1)

#define COUNT_ALLOCATION(name, fd)                                                                                    \
    BEGIN_CHANGE(name, fd);                                                                                           \
    begin_trace(&operation);                                                                                          \
    if (assay_is_file(operation.target)) COUNT(allocations, 1)

static void begin_trace(struct assay_operation *operation) {
    if (!assay_traces() || !assay_is_file(operation->target)) return;
    operation->is_traced = assay_trace_begin();
    if (operation->is_traced) assay_trace_stores();
}

static int end_change(const struct assay_operation *operation, int result) {
    assay_trace_finish(operation->is_traced);
    assay_struck(operation->strike);
    return result;
}

static int truncated(const struct assay_operation *operation, int64_t size, int result) {
    if (operation->is_traced && result == 0)
        assay_trace_file(ASSAY_TRACE_TRUNCATE, operation->target, size, 0, false);
    return end_change(operation, result);
}

static int allocated(const struct assay_operation *operation, int mode, int64_t end, int result) {
    if (operation->is_traced && result == 0) {
        if (mode == 0) assay_trace_file(ASSAY_TRACE_PREALLOCATE, operation->target, end, 0, false);
        else if (mode != FALLOC_FL_KEEP_SIZE) assay_trace_unseen("fallocate made a hole, or moved bytes");
    }
    return end_change(operation, result);
}

EXPORTED int ftruncate(int fd, off_t size) {
    COUNT_TRUNCATION(ftruncate, fd);
    return truncated(&operation, size, PASS(NEXT(ftruncate)(fd, size)));
}

EXPORTED int ftruncate64(int fd, off64_t size) {
    COUNT_TRUNCATION(ftruncate64, fd);
    return truncated(&operation, size, PASS(NEXT(ftruncate64)(fd, size)));
}

EXPORTED int truncate(const char *path, off_t size) {
    CHANGE_PATH(assay_is_path_below_root(AT_FDCWD, path), truncations, ASSAY_FAULT_TRUNCATE,
        (&naming, ASSAY_TRACE_TRUNCATE, AT_FDCWD, path, AT_FDCWD, NULL),
        NEXT(truncate)(path, size));
}

EXPORTED int truncate64(const char *path, off64_t size) {
    CHANGE_PATH(assay_is_path_below_root(AT_FDCWD, path), truncations, ASSAY_FAULT_TRUNCATE,
        (&naming, ASSAY_TRACE_TRUNCATE, AT_FDCWD, path, AT_FDCWD, NULL),
        NEXT(truncate64)(path, size));
}

EXPORTED int fallocate(int fd, int mode, off_t offset, off_t count) {
    COUNT_ALLOCATION(fallocate, fd);
    return allocated(&operation, mode, offset + count, PASS(NEXT(fallocate)(fd, mode, offset, count)));
}

EXPORTED int fallocate64(int fd, int mode, off64_t offset, off64_t count) {
    COUNT_ALLOCATION(fallocate64, fd);
    return allocated(&operation, mode, offset + count, PASS(NEXT(fallocate64)(fd, mode, offset, count)));
}

// These calls return the error and keep errno.
#define PASS_ERROR(call) (operation.strike.error != 0 ? operation.strike.error : assay_denied(call))

EXPORTED int posix_fallocate(int fd, off_t offset, off_t count) {
    COUNT_ALLOCATION(posix_fallocate, fd);
    return allocated(&operation, 0, offset + count, PASS_ERROR(NEXT(posix_fallocate)(fd, offset, count)));
}

EXPORTED int posix_fallocate64(int fd, off64_t offset, off64_t count) {
    COUNT_ALLOCATION(posix_fallocate64, fd);
    return allocated(&operation, 0, offset + count, PASS_ERROR(NEXT(posix_fallocate64)(fd, offset, count)));
}
#endif
