#include "probe.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern int fcntl64(int fd, int command, ...);
extern ssize_t __read_chk(int fd, void *bytes, size_t count, size_t capacity);
extern ssize_t __pread_chk(int fd, void *bytes, size_t count, off_t offset, size_t capacity);
extern ssize_t __pread64_chk(int fd, void *bytes, size_t count, off64_t offset, size_t capacity);

static char bytes[1 << 16];

static long write_by_name(const char *name, int fd, size_t count) {
    // Two parts, to check that they count as one call.
    struct iovec parts[2] = {{bytes, count / 2}, {bytes, count - count / 2}};
    if (!strcmp(name, "write")) return write(fd, bytes, count);
    if (!strcmp(name, "pwrite")) return pwrite(fd, bytes, count, 0);
    if (!strcmp(name, "pwrite64")) return pwrite64(fd, bytes, count, 0);
    if (!strcmp(name, "writev")) return writev(fd, parts, 2);
    if (!strcmp(name, "pwritev")) return pwritev(fd, parts, 2, 0);
    if (!strcmp(name, "pwritev64")) return pwritev64(fd, parts, 2, 0);
    if (!strcmp(name, "pwritev2")) return pwritev2(fd, parts, 2, 0, 0);
    if (!strcmp(name, "pwritev64v2")) return pwritev64v2(fd, parts, 2, 0, 0);
    if (!strcmp(name, "pwritev2-dsync")) return pwritev2(fd, parts, 2, 0, RWF_DSYNC);
    if (!strcmp(name, "pwritev64v2-sync")) return pwritev64v2(fd, parts, 2, 0, RWF_SYNC);
    if (!strcmp(name, "syscall-pwrite")) return syscall(SYS_pwrite64, fd, bytes, count, 0);
    return -2;
}

static long read_by_name(const char *name, int fd, size_t count) {
    struct iovec parts[2] = {{bytes, count / 2}, {bytes + count / 2, count - count / 2}};
    if (!strcmp(name, "read")) return read(fd, bytes, count);
    if (!strcmp(name, "read-checked")) return __read_chk(fd, bytes, count, sizeof bytes);
    if (!strcmp(name, "pread")) return pread(fd, bytes, count, 0);
    if (!strcmp(name, "pread-checked")) return __pread_chk(fd, bytes, count, 0, sizeof bytes);
    if (!strcmp(name, "pread64")) return pread64(fd, bytes, count, 0);
    if (!strcmp(name, "pread64-checked")) return __pread64_chk(fd, bytes, count, 0, sizeof bytes);
    if (!strcmp(name, "readv")) return readv(fd, parts, 2);
    if (!strcmp(name, "preadv")) return preadv(fd, parts, 2, 0);
    if (!strcmp(name, "preadv64")) return preadv64(fd, parts, 2, 0);
    if (!strcmp(name, "preadv2")) return preadv2(fd, parts, 2, 0, 0);
    if (!strcmp(name, "preadv64v2")) return preadv64v2(fd, parts, 2, 0, 0);
    return -2;
}

static long sync_by_name(const char *name, int fd, size_t count) {
    if (!strcmp(name, "fsync")) return fsync(fd);
    if (!strcmp(name, "fdatasync")) return fdatasync(fd);
    if (!strcmp(name, "sync_file_range")) return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (!strcmp(name, "syncfs")) return syncfs(fd);
    if (!strcmp(name, "syscall-fdatasync")) return syscall(SYS_fdatasync, fd);
    if (!strcmp(name, "msync")) {
        void *base = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        need(base != MAP_FAILED, "mmap");
        long result = msync(base, count, MS_SYNC);
        need(munmap(base, count) == 0, "munmap");
        return result;
    }
    if (!strcmp(name, "map-read-only")) {
        void *base = mmap(NULL, count, PROT_READ, MAP_SHARED, fd, 0);
        need(base != MAP_FAILED, "mmap");
        return munmap(base, count);
    }
    return -2;
}

static long change_by_name(const char *name, int fd, long size) {
    if (!strcmp(name, "ftruncate")) return ftruncate(fd, size);
    if (!strcmp(name, "ftruncate64")) return ftruncate64(fd, size);
    if (!strcmp(name, "fallocate")) return fallocate(fd, 0, 0, size);
    if (!strcmp(name, "fallocate64")) return fallocate64(fd, 0, 0, size);
    if (!strcmp(name, "posix_fallocate")) return posix_fallocate(fd, 0, size);
    if (!strcmp(name, "posix_fallocate64")) return posix_fallocate64(fd, 0, size);
    if (!strcmp(name, "set-flags")) return fcntl(fd, F_SETFL, O_APPEND | O_DSYNC);
    if (!strcmp(name, "close")) return close(fd);
    return -2;
}

static long copy_by_name(const char *name, int fd, int from) {
    off64_t input = 0, output = 0;
    if (!strcmp(name, "copy_file_range")) return copy_file_range(from, &input, fd, &output, 100, 0);
    if (!strcmp(name, "sendfile")) return sendfile(fd, from, &input, 100);
    if (!strcmp(name, "sendfile64")) return sendfile64(fd, from, &input, 100);
    return -2;
}

static long duplicate_by_name(const char *name, int fd, int copy) {
    if (!strcmp(name, "dup2")) return dup2(fd, copy);
    if (!strcmp(name, "dup3")) return dup3(fd, copy, O_CLOEXEC);
    if (!strcmp(name, "dup-fcntl")) return fcntl(fd, F_DUPFD_CLOEXEC, copy);
    if (!strcmp(name, "dup-fcntl64")) return fcntl64(fd, F_DUPFD, copy);
    return -2;
}

long call_by_name(const char *name, int fd, long argument) {
    long result = write_by_name(name, fd, (size_t)argument);
    if (result == -2) result = read_by_name(name, fd, (size_t)argument);
    if (result == -2) result = sync_by_name(name, fd, (size_t)argument);
    if (result == -2) result = change_by_name(name, fd, argument);
    if (result == -2) result = copy_by_name(name, fd, (int)argument);
    if (result == -2) result = duplicate_by_name(name, fd, (int)argument);
    return result;
}
