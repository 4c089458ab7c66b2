#include "CStrataShim.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

void *strata_map_shared(int fd, size_t count) {
    void *base = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

#ifdef __linux__
_Static_assert(sizeof(pthread_mutex_t) <= STRATA_LOCK_SIZE, "a lock fits its place");

int strata_has_shared_locks(void) { return 1; }

int strata_lock_init(void *lock) {
    pthread_mutexattr_t attributes;
    int result = pthread_mutexattr_init(&attributes);
    if (result != 0) return result;
    result = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (result == 0) result = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (result == 0) result = pthread_mutex_init((pthread_mutex_t *)lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result;
}

int strata_lock(void *lock) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 1;
    int result = pthread_mutex_timedlock((pthread_mutex_t *)lock, &end);
    if (result == EOWNERDEAD) pthread_mutex_consistent((pthread_mutex_t *)lock);
    return result;
}

int strata_unlock_shared(void *lock) { return pthread_mutex_unlock((pthread_mutex_t *)lock); }

void strata_wait_word(const void *word, uint32_t value, uint64_t microseconds) {
    struct timespec limit = {(time_t)(microseconds / 1000000u), (long)(microseconds % 1000000u) * 1000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

void strata_wake_word(const void *word) { syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0); }

int strata_is_locked(int fd, int64_t byte) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return -errno;
    return lock.l_type == F_UNLCK ? 0 : 1;
}
#else
int strata_has_shared_locks(void) { return 0; }
int strata_lock_init(void *lock) { return ENOTSUP; }
int strata_lock(void *lock) { return ENOTSUP; }
int strata_unlock_shared(void *lock) { return ENOTSUP; }
void strata_wait_word(const void *word, uint32_t value, uint64_t microseconds) { usleep((useconds_t)microseconds); }
void strata_wake_word(const void *word) {}
int strata_is_locked(int fd, int64_t byte) { return -ENOTSUP; }
#endif
