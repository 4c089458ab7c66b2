#if defined(__linux__)
#include "operation.h"

EXPORTED ssize_t write(int fd, const void *bytes, size_t count) {
    BEGIN(write, fd);
    return assay_end_write(&operation, NEXT(write)(fd, bytes, count), false);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    BEGIN(pwrite, fd);
    return assay_end_write(&operation, NEXT(pwrite)(fd, bytes, count, offset), false);
}

EXPORTED ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    BEGIN(pwrite64, fd);
    return assay_end_write(&operation, NEXT(pwrite64)(fd, bytes, count, offset), false);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count) {
    BEGIN(writev, fd);
    return assay_end_write(&operation, NEXT(writev)(fd, parts, count), false);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    BEGIN(pwritev, fd);
    return assay_end_write(&operation, NEXT(pwritev)(fd, parts, count, offset), false);
}

EXPORTED ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    BEGIN(pwritev64, fd);
    return assay_end_write(&operation, NEXT(pwritev64)(fd, parts, count, offset), false);
}

EXPORTED ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    BEGIN(pwritev2, fd);
    ssize_t written = NEXT(pwritev2)(fd, parts, count, offset, flags);
    return assay_end_write(&operation, written, flags & (RWF_DSYNC | RWF_SYNC));
}

EXPORTED ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags) {
    BEGIN(pwritev64v2, fd);
    ssize_t written = NEXT(pwritev64v2)(fd, parts, count, offset, flags);
    return assay_end_write(&operation, written, flags & (RWF_DSYNC | RWF_SYNC));
}

// A copy inside the kernel is a read of the one file and a write to the other.
static ssize_t end_copy(const struct assay_operation *operation, int input, ssize_t count) {
    struct assay_operation source = assay_begin(ASSAY_CALL_read, input);
    assay_end_read(&source, count);
    return assay_end_write(operation, count, false);
}

EXPORTED ssize_t copy_file_range(
    int input, off64_t *input_offset, int output, off64_t *output_offset, size_t count, unsigned flags) {
    BEGIN(copy_file_range, output);
    ssize_t copied = NEXT(copy_file_range)(input, input_offset, output, output_offset, count, flags);
    return end_copy(&operation, input, copied);
}

EXPORTED ssize_t sendfile(int output, int input, off_t *offset, size_t count) {
    BEGIN(sendfile, output);
    return end_copy(&operation, input, NEXT(sendfile)(output, input, offset, count));
}

EXPORTED ssize_t sendfile64(int output, int input, off64_t *offset, size_t count) {
    BEGIN(sendfile64, output);
    return end_copy(&operation, input, NEXT(sendfile64)(output, input, offset, count));
}
#endif
