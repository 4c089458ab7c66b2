#if defined(__linux__)
#include "operation.h"

EXPORTED ssize_t read(int fd, void *bytes, size_t count) {
    BEGIN(read, fd);
    return assay_end_read(&operation, NEXT(read)(fd, bytes, count));
}

EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t count, size_t capacity) {
    BEGIN(__read_chk, fd);
    return assay_end_read(&operation, NEXT(__read_chk)(fd, bytes, count, capacity));
}

EXPORTED ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    BEGIN(pread, fd);
    return assay_end_read(&operation, NEXT(pread)(fd, bytes, count, offset));
}

EXPORTED ssize_t __pread_chk(int fd, void *bytes, size_t count, off_t offset, size_t capacity) {
    BEGIN(__pread_chk, fd);
    return assay_end_read(&operation, NEXT(__pread_chk)(fd, bytes, count, offset, capacity));
}

EXPORTED ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
    BEGIN(pread64, fd);
    return assay_end_read(&operation, NEXT(pread64)(fd, bytes, count, offset));
}

EXPORTED ssize_t __pread64_chk(int fd, void *bytes, size_t count, off64_t offset, size_t capacity) {
    BEGIN(__pread64_chk, fd);
    return assay_end_read(&operation, NEXT(__pread64_chk)(fd, bytes, count, offset, capacity));
}

EXPORTED ssize_t readv(int fd, const struct iovec *parts, int count) {
    BEGIN(readv, fd);
    return assay_end_read(&operation, NEXT(readv)(fd, parts, count));
}

EXPORTED ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
    BEGIN(preadv, fd);
    return assay_end_read(&operation, NEXT(preadv)(fd, parts, count, offset));
}

EXPORTED ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
    BEGIN(preadv64, fd);
    return assay_end_read(&operation, NEXT(preadv64)(fd, parts, count, offset));
}

EXPORTED ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    BEGIN(preadv2, fd);
    return assay_end_read(&operation, NEXT(preadv2)(fd, parts, count, offset, flags));
}

EXPORTED ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags) {
    BEGIN(preadv64v2, fd);
    return assay_end_read(&operation, NEXT(preadv64v2)(fd, parts, count, offset, flags));
}
#endif
