#include "CStrataShim.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

void *strata_map_shared(int fd, size_t count) {
    void *base = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) return NULL;
    // Processes use few pages of the table, far apart: without this advice the kernel would read ahead at each fault.
    madvise(base, count, MADV_RANDOM);
    return base;
}

#ifdef __linux__
int strata_has_shared_locks(void) { return 1; }

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
void strata_wait_word(const void *word, uint32_t value, uint64_t microseconds) { usleep((useconds_t)microseconds); }
void strata_wake_word(const void *word) {}
int strata_is_locked(int fd, int64_t byte) { return -ENOTSUP; }
#endif

#ifdef __linux__
// Whether a file of /proc/PID/fdinfo lists a lock that begins at a byte.
static int names_lock(const char *path, int64_t byte) {
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    char line[256];
    int found = 0;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        long long start;
        // lock:	1: OFDLCK  ADVISORY  READ -1 08:01:1234 4611686018427387904 4611686018427387904
        found = sscanf(line, "lock: %*s OFDLCK %*s %*s %*s %*s %lld", &start) == 1 && start == byte;
    }
    fclose(file);
    return found;
}

// Whether a process has a descriptor of a file, with a lock on a byte.
static int has_lock(const char *process, const struct stat *wanted, int64_t byte) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.10s/fd", process);
    DIR *directory = opendir(path);
    if (directory == NULL) return 0;
    int found = 0;
    struct dirent *entry;
    while (!found && (entry = readdir(directory)) != NULL) {
        struct stat there;
        if (entry->d_name[0] == '.' || fstatat(dirfd(directory), entry->d_name, &there, 0) != 0) continue;
        if (there.st_dev != wanted->st_dev || there.st_ino != wanted->st_ino) continue;
        snprintf(path, sizeof path, "/proc/%.10s/fdinfo/%.10s", process, entry->d_name);
        found = names_lock(path, byte);
    }
    closedir(directory);
    return found;
}

size_t strata_lock_holders(int fd, int64_t byte, int32_t *processes, size_t most) {
    struct stat wanted;
    DIR *directory = opendir("/proc");
    if (directory == NULL) return 0;
    size_t count = 0;
    struct dirent *entry;
    while (fstat(fd, &wanted) == 0 && count < most && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        if (has_lock(entry->d_name, &wanted, byte)) processes[count++] = (int32_t)atoi(entry->d_name);
    }
    closedir(directory);
    return count;
}
#else
size_t strata_lock_holders(int fd, int64_t byte, int32_t *processes, size_t most) { return 0; }
#endif
