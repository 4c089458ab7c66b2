#if defined(__linux__)
#include "operation.h"
#include "kernel.h"

// The written bytes and their offset, for the trace.
#define BYTES(place)                                                                                                  \
    struct iovec whole = {(void *)bytes, count};                                                                      \
    operation.parts = &whole;                                                                                         \
    operation.part_count = 1;                                                                                         \
    operation.offset = place
#define PARTS(place)                                                                                                  \
    operation.parts = parts;                                                                                          \
    operation.part_count = count;                                                                                     \
    operation.offset = place

EXPORTED ssize_t write(int fd, const void *bytes, size_t count) {
    BEGIN_BYTES(write, fd, count);
    BYTES(-1);
    return assay_end_write(&operation, PASS(NEXT(write)(fd, bytes, count)), false);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    BEGIN_BYTES(pwrite, fd, count);
    BYTES(offset);
    return assay_end_write(&operation, PASS(NEXT(pwrite)(fd, bytes, count, offset)), false);
}

EXPORTED ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    BEGIN_BYTES(pwrite64, fd, count);
    BYTES(offset);
    return assay_end_write(&operation, PASS(NEXT(pwrite64)(fd, bytes, count, offset)), false);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count) {
    BEGIN_PARTS(writev, fd, parts, count);
    PARTS(-1);
    return assay_end_write(&operation, PASS(NEXT(writev)(fd, parts, count)), false);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    BEGIN_PARTS(pwritev, fd, parts, count);
    PARTS(offset);
    return assay_end_write(&operation, PASS(NEXT(pwritev)(fd, parts, count, offset)), false);
}

EXPORTED ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    BEGIN_PARTS(pwritev64, fd, parts, count);
    PARTS(offset);
    return assay_end_write(&operation, PASS(NEXT(pwritev64)(fd, parts, count, offset)), false);
}

EXPORTED ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    BEGIN_PARTS(pwritev2, fd, parts, count);
    PARTS(offset);
    ssize_t written = PASS(NEXT(pwritev2)(fd, parts, count, offset, flags));
    return assay_end_write(&operation, written, flags & (RWF_DSYNC | RWF_SYNC));
}

EXPORTED ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags) {
    BEGIN_PARTS(pwritev64v2, fd, parts, count);
    PARTS(offset);
    ssize_t written = PASS(NEXT(pwritev64v2)(fd, parts, count, offset, flags));
    return assay_end_write(&operation, written, flags & (RWF_DSYNC | RWF_SYNC));
}

// A copy inside the kernel is a read of one file and a write to another.
static ssize_t end_copy(const struct assay_operation *operation, int input, ssize_t count) {
    struct assay_operation source = assay_begin(ASSAY_CALL_read, input);
    assay_end_read(&source, count);
    return assay_end_write(operation, count, false);
}

// The source of a copy, for the trace. To be called before the copy, which moves the offset.
static struct assay_source source_of(const struct assay_operation *operation, int input, const off64_t *offset) {
    if (!operation->is_traced) return (struct assay_source){-1, -1};
    int64_t place = offset ? *offset : kernel_call(SYS_lseek, input, 0, SEEK_CUR, 0, 0, 0);
    return (struct assay_source){input, place};
}

EXPORTED ssize_t copy_file_range(
    int input, off64_t *input_offset, int output, off64_t *output_offset, size_t count, unsigned flags) {
    BEGIN_BYTES(copy_file_range, output, count);
    operation.offset = output_offset ? *output_offset : -1;
    operation.source = source_of(&operation, input, input_offset);
    ssize_t copied = PASS(NEXT(copy_file_range)(input, input_offset, output, output_offset, count, flags));
    return end_copy(&operation, input, copied);
}

EXPORTED ssize_t sendfile(int output, int input, off_t *offset, size_t count) {
    BEGIN_BYTES(sendfile, output, count);
    operation.source = source_of(&operation, input, offset);
    return end_copy(&operation, input, PASS(NEXT(sendfile)(output, input, offset, count)));
}

EXPORTED ssize_t sendfile64(int output, int input, off64_t *offset, size_t count) {
    BEGIN_BYTES(sendfile64, output, count);
    operation.source = source_of(&operation, input, offset);
    return end_copy(&operation, input, PASS(NEXT(sendfile64)(output, input, offset, count)));
}
#endif
