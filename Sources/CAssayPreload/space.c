#if defined(__linux__)
#include "operation.h"

#define COUNT_TRUNCATION(name, fd)                                                                                    \
    BEGIN(name, fd);                                                                                                  \
    if (assay_is_file(operation.target)) COUNT(truncations, 1)

#define COUNT_ALLOCATION(name, fd)                                                                                    \
    BEGIN(name, fd);                                                                                                  \
    if (assay_is_file(operation.target)) COUNT(allocations, 1)

EXPORTED int ftruncate(int fd, off_t size) {
    COUNT_TRUNCATION(ftruncate, fd);
    return NEXT(ftruncate)(fd, size);
}

EXPORTED int ftruncate64(int fd, off64_t size) {
    COUNT_TRUNCATION(ftruncate64, fd);
    return NEXT(ftruncate64)(fd, size);
}

EXPORTED int truncate(const char *path, off_t size) {
    if (assay_is_path_below_root(AT_FDCWD, path)) COUNT(truncations, 1);
    return NEXT(truncate)(path, size);
}

EXPORTED int truncate64(const char *path, off64_t size) {
    if (assay_is_path_below_root(AT_FDCWD, path)) COUNT(truncations, 1);
    return NEXT(truncate64)(path, size);
}

EXPORTED int fallocate(int fd, int mode, off_t offset, off_t count) {
    COUNT_ALLOCATION(fallocate, fd);
    return NEXT(fallocate)(fd, mode, offset, count);
}

EXPORTED int fallocate64(int fd, int mode, off64_t offset, off64_t count) {
    COUNT_ALLOCATION(fallocate64, fd);
    return NEXT(fallocate64)(fd, mode, offset, count);
}

EXPORTED int posix_fallocate(int fd, off_t offset, off_t count) {
    COUNT_ALLOCATION(posix_fallocate, fd);
    return NEXT(posix_fallocate)(fd, offset, count);
}

EXPORTED int posix_fallocate64(int fd, off64_t offset, off64_t count) {
    COUNT_ALLOCATION(posix_fallocate64, fd);
    return NEXT(posix_fallocate64)(fd, offset, count);
}
#endif
