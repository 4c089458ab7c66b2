#include "CStrataShim.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

int strata_open(const char *path, int flags, unsigned mode) {
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

int strata_rename_new(const char *path, const char *destination) {
#if defined(__linux__) && defined(SYS_renameat2)
    if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, destination, 1u /* RENAME_NOREPLACE */) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
#elif defined(__APPLE__)
    if (renamex_np(path, destination, RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP) return -errno;
#endif
    // A file system without it: a second name is never given to what is there already.
    if (link(path, destination) != 0) return -errno;
    return unlink(path) == 0 ? 0 : -errno;
}

int strata_write_back(int fd, int64_t offset, int64_t count) {
#ifdef __linux__
    unsigned flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_file_range(fd, offset, count, flags) == 0 ? 0 : -errno;
#else
    (void)fd, (void)offset, (void)count;
    return 0;
#endif
}

static int set_lock(int fd, int64_t byte, short type) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
#ifdef F_OFD_SETLK
    int command = F_OFD_SETLK;
#else
    int command = F_SETLK;
#endif
    int result;
    do {
        result = fcntl(fd, command, &lock);
    } while (result < 0 && errno == EINTR);
    if (result == 0) return 0;
    return errno == EAGAIN || errno == EACCES ? 1 : -errno;
}

int strata_try_lock(int fd, int64_t byte, int exclusive) { return set_lock(fd, byte, exclusive ? F_WRLCK : F_RDLCK); }

int strata_unlock(int fd, int64_t byte) { return set_lock(fd, byte, F_UNLCK); }

uint64_t strata_monotonic_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int strata_condition_init(pthread_cond_t *condition) {
#ifdef __APPLE__
    return pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int result = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return result;
#endif
}

int strata_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline) {
#ifdef __APPLE__
    uint64_t now = strata_monotonic_time();
    if (now >= deadline) return ETIMEDOUT;
    struct timespec left = {(time_t)((deadline - now) / 1000000000u), (long)((deadline - now) % 1000000000u)};
    return pthread_cond_timedwait_relative_np(condition, mutex, &left);
#else
    struct timespec end = {(time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u)};
    return pthread_cond_timedwait(condition, mutex, &end);
#endif
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
// Resolvers of cloned functions run before the sanitizer is ready.
#define WIDE
#endif
#endif
#if defined(WIDE)
#elif defined(__x86_64__) && defined(__linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

WIDE static uint64_t sum8(const uint8_t *p, size_t n) {
    uint64_t total = 0;
    while (n > 0) {
        size_t part = n < 4096 ? n : 4096;
        uint32_t sum = 0;
        for (size_t i = 0; i < part; i++) sum += p[i];
        total += sum;
        p += part;
        n -= part;
    }
    return total;
}

WIDE static uint64_t sum16(const uint8_t *p, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t v;
        memcpy(&v, p + 2 * i, 2);
        total += v;
    }
    return total;
}

WIDE static uint64_t sum32(const uint8_t *p, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v;
        memcpy(&v, p + 4 * i, 4);
        total += v;
    }
    return total;
}

WIDE static uint64_t sum64(const uint8_t *p, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        memcpy(&v, p + 8 * i, 8);
        total += v;
    }
    return total;
}

uint64_t strata_sum(const void *values, size_t count, int width) {
    switch (width) {
    case 1: return sum8(values, count);
    case 2: return sum16(values, count);
    case 4: return sum32(values, count);
    case 8: return sum64(values, count);
    default: return 0;
    }
}
