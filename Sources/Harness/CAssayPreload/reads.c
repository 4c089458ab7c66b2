#if defined(__linux__)
#include "operation.h"

EXPORTED ssize_t read(int fd, void *bytes, size_t count) {
    BEGIN_BYTES(read, fd, count);
    return assay_end_read(&operation, PASS(NEXT(read)(fd, bytes, count)));
}

EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t count, size_t capacity) {
    BEGIN_BYTES(__read_chk, fd, count);
    return assay_end_read(&operation, PASS(NEXT(__read_chk)(fd, bytes, count, capacity)));
}

EXPORTED ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    BEGIN_BYTES(pread, fd, count);
    return assay_end_read(&operation, PASS(NEXT(pread)(fd, bytes, count, offset)));
}

EXPORTED ssize_t __pread_chk(int fd, void *bytes, size_t count, off_t offset, size_t capacity) {
    BEGIN_BYTES(__pread_chk, fd, count);
    return assay_end_read(&operation, PASS(NEXT(__pread_chk)(fd, bytes, count, offset, capacity)));
}

EXPORTED ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
    BEGIN_BYTES(pread64, fd, count);
    return assay_end_read(&operation, PASS(NEXT(pread64)(fd, bytes, count, offset)));
}

EXPORTED ssize_t __pread64_chk(int fd, void *bytes, size_t count, off64_t offset, size_t capacity) {
    BEGIN_BYTES(__pread64_chk, fd, count);
    return assay_end_read(&operation, PASS(NEXT(__pread64_chk)(fd, bytes, count, offset, capacity)));
}

EXPORTED ssize_t readv(int fd, const struct iovec *parts, int count) {
    BEGIN_PARTS(readv, fd, parts, count);
    return assay_end_read(&operation, PASS(NEXT(readv)(fd, parts, count)));
}

EXPORTED ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
    BEGIN_PARTS(preadv, fd, parts, count);
    return assay_end_read(&operation, PASS(NEXT(preadv)(fd, parts, count, offset)));
}

EXPORTED ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
    BEGIN_PARTS(preadv64, fd, parts, count);
    return assay_end_read(&operation, PASS(NEXT(preadv64)(fd, parts, count, offset)));
}

EXPORTED ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    BEGIN_PARTS(preadv2, fd, parts, count);
    return assay_end_read(&operation, PASS(NEXT(preadv2)(fd, parts, count, offset, flags)));
}

EXPORTED ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags) {
    BEGIN_PARTS(preadv64v2, fd, parts, count);
    return assay_end_read(&operation, PASS(NEXT(preadv64v2)(fd, parts, count, offset, flags)));
}
#endif
