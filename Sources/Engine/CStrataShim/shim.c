#include "CStrataShim.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#endif

int strata_open(const char *path, int flags, unsigned mode) {
    int fd;
    do {
        /* O_NONBLOCK: opening a pipe that replaced the file must not block; for files it has no effect. */
        fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, mode);
    } while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

void strata_keep_places(int fd) {
#if defined(__linux__) && defined(FS_NOCOW_FL)
    struct statfs system;
    const long btrfs = 0x9123683E;
    int flags;
    if (fstatfs(fd, &system) != 0 || (long)system.f_type != btrfs) return;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
    flags |= FS_NOCOW_FL;
    (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
#else
    (void)fd;
#endif
}

const char *strata_served_kind(const char *path) {
#ifdef __linux__
    static const struct { unsigned magic; const char *name; } kinds[] = {
        {0x6969, "NFS"}, {0x517B, "SMB"}, {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB2"}, {0x65735546, "FUSE"},
        {0x01021997, "9p"}, {0x786F4256, "a shared folder of a virtual machine"}, {0x00C36400, "Ceph"},
        {0x5346414F, "AFS"}, {0x73757245, "Coda"}, {0x0BD00BD0, "Lustre"},
    };
    struct statfs system;
    if (statfs(path, &system) != 0) return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if ((unsigned)system.f_type == kinds[i].magic) return kinds[i].name;
    }
    return NULL;
#elif defined(__APPLE__)
    static const char *const names[] = {"nfs", "smbfs", "afpfs", "webdav", "macfuse", "osxfuse"};
    struct statfs system;
    if (statfs(path, &system) != 0) return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(system.f_fstypename, names[i]) == 0) return names[i];
    }
    return NULL;
#else
    (void)path;
    return NULL;
#endif
}

int strata_open_beside(const char *path, const char *original) {
    int fd = strata_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) return fd;
    strata_keep_places(fd);
    struct stat theirs, ours;
    if (stat(original, &theirs) != 0 || fstat(fd, &ours) != 0) return fd;
    mode_t mode = theirs.st_mode & 0666;
    if (ours.st_uid != theirs.st_uid || ours.st_gid != theirs.st_gid) {
        /* Only root may change the owner; another user may give the file a group that the user is in. */
        if (fchown(fd, theirs.st_uid, theirs.st_gid) != 0 && fchown(fd, (uid_t)-1, theirs.st_gid) != 0) {
            /* Another group gets no more rights than all users have. */
            mode = (mode & ~(mode_t)0060) | ((mode & 0006) << 3);
        }
    }
    /* Beside a read-only file, the owner may still write the new one; root needs no such right. */
    if (geteuid() != 0) mode |= 0600;
    if (fchmod(fd, mode) == 0) return fd;
    int failure = errno;
    close(fd);
    unlink(path);
    return -failure;
}

int strata_get_status(int fd, const char *path, struct strata_status *status) {
#if defined(__linux__) && defined(STATX_BASIC_STATS)
    struct statx wide;
    unsigned mask = STATX_TYPE | STATX_INO | STATX_SIZE;
    int result = path ? statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, mask, &wide)
                      : statx(fd, "", AT_EMPTY_PATH, mask, &wide);
    if (result == 0) {
        status->size = (int64_t)wide.stx_size;
        status->device = makedev(wide.stx_dev_major, wide.stx_dev_minor);
        status->inode = wide.stx_ino;
        status->is_regular = S_ISREG(wide.stx_mode);
        return 0;
    }
    if (errno != ENOSYS && errno != EPERM) return -errno;
#endif
    struct stat plain;
    if ((path ? lstat(path, &plain) : fstat(fd, &plain)) != 0) return -errno;
    status->size = (int64_t)plain.st_size;
    status->device = (uint64_t)plain.st_dev;
    status->inode = (uint64_t)plain.st_ino;
    status->is_regular = S_ISREG(plain.st_mode);
    return 0;
}

long strata_read_link(const char *path, uint8_t *target, size_t size) {
    ssize_t length = readlink(path, (char *)target, size);
    return length < 0 ? -errno : (long)length;
}

int strata_sync_file_system(int fd) {
#ifdef __linux__
    return syncfs(fd) == 0 ? 0 : -errno;
#else
    (void)fd;
    sync();
    return 0;
#endif
}

int strata_rename_new(const char *path, const char *destination) {
#if defined(__linux__) && defined(SYS_renameat2)
    if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, destination, 1u /* RENAME_NOREPLACE */) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
#elif defined(__APPLE__)
    if (renamex_np(path, destination, RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP) return -errno;
#endif
    // The file system cannot do so; link(2) fails as well if the new name exists.
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

int strata_extend_map(void *base, size_t length, size_t new_length) {
#ifdef __linux__
    return mremap(base, length, new_length, 0) == MAP_FAILED ? -errno : 0;
#else
    (void)base, (void)length, (void)new_length;
    return -ENOMEM;
#endif
}

int strata_map_behind(void *end, size_t bytes) {
#if defined(__linux__) && defined(MAP_FIXED_NOREPLACE)
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *base = mmap(end, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == end) return 0;
    // An older kernel treats the address as a hint.
    if (base != MAP_FAILED) munmap(base, bytes);
    return base == MAP_FAILED ? -errno : -ENOMEM;
#else
    (void)end, (void)bytes;
    return -ENOMEM;
#endif
}

static int set_locks(int fd, int64_t byte, int64_t count, short type) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = count;
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

int strata_try_lock(int fd, int64_t byte, int exclusive) {
    return set_locks(fd, byte, 1, exclusive ? F_WRLCK : F_RDLCK);
}

int strata_unlock(int fd, int64_t byte) { return set_locks(fd, byte, 1, F_UNLCK); }

int strata_unlock_all(int fd) { return set_locks(fd, 0, 0, F_UNLCK); }

int64_t strata_next_data(int fd, int64_t offset) {
#ifdef SEEK_DATA
    off_t found = lseek(fd, (off_t)offset, SEEK_DATA);
    if (found >= 0) return found;
    if (errno == ENXIO) return -1;
#else
    (void)fd;
#endif
    return offset;
}

int64_t strata_next_hole(int fd, int64_t offset) {
#ifdef SEEK_HOLE
    off_t found = lseek(fd, (off_t)offset, SEEK_HOLE);
    if (found >= 0) return found;
#else
    (void)fd;
    (void)offset;
#endif
    return INT64_MAX;
}

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

__thread uint64_t strata_own_thread;

uint64_t strata_thread_number(void) {
    static _Atomic uint64_t last;
    if (strata_own_thread == 0) strata_own_thread = ++last;
    return strata_own_thread;
}

// A function of Swift's concurrency runtime. Compiled code calls it to check its isolation.
__attribute__((swiftcall, weak)) _Bool swift_task_isCurrentExecutorWithFlags(
    uintptr_t identity, uintptr_t implementation, uintptr_t flags);

int strata_is_on_executor(uintptr_t identity, uintptr_t implementation) {
    return swift_task_isCurrentExecutorWithFlags
        && swift_task_isCurrentExecutorWithFlags(identity, implementation, 0);
}

// A function of Swift's runtime, which also calls it to load a weak reference.
void *swift_tryRetain(void *object);

int strata_retain_living(void *object) { return swift_tryRetain(object) != NULL; }

static uint64_t first_thread;

// Runs before main, on the program's first thread; in a library that is loaded later it may run on another thread.
__attribute__((constructor)) static void find_first_thread(void) {
#ifdef __APPLE__
    int is_first = pthread_main_np();
#else
    int is_first = syscall(SYS_gettid) == getpid();
#endif
    if (is_first) first_thread = strata_thread_number();
}

int strata_is_first_thread(void) { return first_thread != 0 && strata_thread_number() == first_thread; }
