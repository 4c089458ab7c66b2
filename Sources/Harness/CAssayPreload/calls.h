// The calls that this library interposes, in one table.
#pragma once
// With this macro the headers define open and read as inline functions, which could not be defined again here.
#undef _FORTIFY_SOURCE
#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

// Functions of libc that no header declares: the names that checked builds and 64-bit file offsets call.
extern int fcntl64(int fd, int command, ...);
extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int directory, const char *path, int flags);
extern int __openat64_2(int directory, const char *path, int flags);
extern ssize_t __read_chk(int fd, void *bytes, size_t count, size_t capacity);
extern ssize_t __pread_chk(int fd, void *bytes, size_t count, off_t offset, size_t capacity);
extern ssize_t __pread64_chk(int fd, void *bytes, size_t count, off64_t offset, size_t capacity);

// Effect of a call on the file of its descriptor.
enum assay_effect { ASSAY_WRITES, ASSAY_READS, ASSAY_SYNCS, ASSAY_OTHER };

#define ASSAY_CALLS(CALL)                                                                                             \
    CALL(write, ASSAY_WRITES)                                                                                         \
    CALL(pwrite, ASSAY_WRITES)                                                                                        \
    CALL(pwrite64, ASSAY_WRITES)                                                                                      \
    CALL(writev, ASSAY_WRITES)                                                                                        \
    CALL(pwritev, ASSAY_WRITES)                                                                                       \
    CALL(pwritev64, ASSAY_WRITES)                                                                                     \
    CALL(pwritev2, ASSAY_WRITES)                                                                                      \
    CALL(pwritev64v2, ASSAY_WRITES)                                                                                   \
    CALL(copy_file_range, ASSAY_WRITES)                                                                               \
    CALL(sendfile, ASSAY_WRITES)                                                                                      \
    CALL(sendfile64, ASSAY_WRITES)                                                                                    \
    CALL(read, ASSAY_READS)                                                                                           \
    CALL(__read_chk, ASSAY_READS)                                                                                     \
    CALL(pread, ASSAY_READS)                                                                                          \
    CALL(__pread_chk, ASSAY_READS)                                                                                    \
    CALL(pread64, ASSAY_READS)                                                                                        \
    CALL(__pread64_chk, ASSAY_READS)                                                                                  \
    CALL(readv, ASSAY_READS)                                                                                          \
    CALL(preadv, ASSAY_READS)                                                                                         \
    CALL(preadv64, ASSAY_READS)                                                                                       \
    CALL(preadv2, ASSAY_READS)                                                                                        \
    CALL(preadv64v2, ASSAY_READS)                                                                                     \
    CALL(fsync, ASSAY_SYNCS)                                                                                          \
    CALL(fdatasync, ASSAY_SYNCS)                                                                                      \
    CALL(sync_file_range, ASSAY_OTHER)                                                                                \
    CALL(syncfs, ASSAY_OTHER)                                                                                         \
    CALL(sync, ASSAY_OTHER)                                                                                           \
    CALL(open, ASSAY_OTHER)                                                                                           \
    CALL(open64, ASSAY_OTHER)                                                                                         \
    CALL(__open_2, ASSAY_OTHER)                                                                                       \
    CALL(__open64_2, ASSAY_OTHER)                                                                                     \
    CALL(openat, ASSAY_OTHER)                                                                                         \
    CALL(openat64, ASSAY_OTHER)                                                                                       \
    CALL(__openat_2, ASSAY_OTHER)                                                                                     \
    CALL(__openat64_2, ASSAY_OTHER)                                                                                   \
    CALL(creat, ASSAY_OTHER)                                                                                          \
    CALL(creat64, ASSAY_OTHER)                                                                                        \
    CALL(close, ASSAY_OTHER)                                                                                          \
    CALL(close_range, ASSAY_OTHER)                                                                                    \
    CALL(closefrom, ASSAY_OTHER)                                                                                      \
    CALL(fopen, ASSAY_OTHER)                                                                                          \
    CALL(fopen64, ASSAY_OTHER)                                                                                        \
    CALL(fdopen, ASSAY_OTHER)                                                                                         \
    CALL(freopen, ASSAY_OTHER)                                                                                        \
    CALL(freopen64, ASSAY_OTHER)                                                                                      \
    CALL(fclose, ASSAY_OTHER)                                                                                         \
    CALL(closedir, ASSAY_OTHER)                                                                                       \
    CALL(dup, ASSAY_OTHER)                                                                                            \
    CALL(dup2, ASSAY_OTHER)                                                                                           \
    CALL(dup3, ASSAY_OTHER)                                                                                           \
    CALL(fcntl, ASSAY_OTHER)                                                                                          \
    CALL(fcntl64, ASSAY_OTHER)                                                                                        \
    CALL(ftruncate, ASSAY_OTHER)                                                                                      \
    CALL(ftruncate64, ASSAY_OTHER)                                                                                    \
    CALL(truncate, ASSAY_OTHER)                                                                                       \
    CALL(truncate64, ASSAY_OTHER)                                                                                     \
    CALL(fallocate, ASSAY_OTHER)                                                                                      \
    CALL(fallocate64, ASSAY_OTHER)                                                                                    \
    CALL(posix_fallocate, ASSAY_OTHER)                                                                                \
    CALL(posix_fallocate64, ASSAY_OTHER)                                                                              \
    CALL(rename, ASSAY_OTHER)                                                                                         \
    CALL(renameat, ASSAY_OTHER)                                                                                       \
    CALL(renameat2, ASSAY_OTHER)                                                                                      \
    CALL(link, ASSAY_OTHER)                                                                                           \
    CALL(linkat, ASSAY_OTHER)                                                                                         \
    CALL(unlink, ASSAY_OTHER)                                                                                         \
    CALL(unlinkat, ASSAY_OTHER)                                                                                       \
    CALL(remove, ASSAY_OTHER)                                                                                         \
    CALL(mkdir, ASSAY_OTHER)                                                                                          \
    CALL(mkdirat, ASSAY_OTHER)                                                                                        \
    CALL(rmdir, ASSAY_OTHER)                                                                                          \
    CALL(symlink, ASSAY_OTHER)                                                                                        \
    CALL(symlinkat, ASSAY_OTHER)                                                                                      \
    CALL(mkfifo, ASSAY_OTHER)                                                                                         \
    CALL(mkfifoat, ASSAY_OTHER)                                                                                       \
    CALL(mknod, ASSAY_OTHER)                                                                                          \
    CALL(mknodat, ASSAY_OTHER)                                                                                        \
    CALL(bind, ASSAY_OTHER)                                                                                           \
    CALL(chmod, ASSAY_OTHER)                                                                                          \
    CALL(fchmod, ASSAY_OTHER)                                                                                         \
    CALL(fchmodat, ASSAY_OTHER)                                                                                       \
    CALL(setxattr, ASSAY_OTHER)                                                                                       \
    CALL(fsetxattr, ASSAY_OTHER)                                                                                      \
    CALL(aio_write, ASSAY_OTHER)                                                                                      \
    CALL(aio_write64, ASSAY_OTHER)                                                                                    \
    CALL(aio_fsync, ASSAY_OTHER)                                                                                      \
    CALL(aio_fsync64, ASSAY_OTHER)                                                                                    \
    CALL(lio_listio, ASSAY_OTHER)                                                                                     \
    CALL(lio_listio64, ASSAY_OTHER)                                                                                   \
    CALL(_exit, ASSAY_OTHER)                                                                                          \
    CALL(_Exit, ASSAY_OTHER)                                                                                          \
    CALL(mmap, ASSAY_OTHER)                                                                                           \
    CALL(mmap64, ASSAY_OTHER)                                                                                         \
    CALL(munmap, ASSAY_OTHER)                                                                                         \
    CALL(mremap, ASSAY_OTHER)                                                                                         \
    CALL(mprotect, ASSAY_OTHER)                                                                                       \
    CALL(msync, ASSAY_OTHER)                                                                                          \
    CALL(pthread_create, ASSAY_OTHER)                                                                                 \
    CALL(syscall, ASSAY_OTHER)

#define ASSAY_NUMBER(name, effect) ASSAY_CALL_##name,
enum assay_call { ASSAY_CALLS(ASSAY_NUMBER) ASSAY_CALL_COUNT };
#undef ASSAY_NUMBER

#pragma GCC visibility push(hidden)

// For each call, the definition that this library hides, usually libc's. assay_find_next looks it up at the first use,
// which may precede this library's constructor: an allocator reads its settings when it is first asked for memory.
extern void *assay_next[ASSAY_CALL_COUNT];
void *assay_find_next(enum assay_call call);
// Looks up the definitions of all calls.
void assay_find_all(void);

static inline void *assay_next_function(enum assay_call call) {
    void *function = __atomic_load_n(&assay_next[call], __ATOMIC_RELAXED);
    return __builtin_expect(function != NULL, 1) ? function : assay_find_next(call);
}

#define NEXT(name) ((__typeof__(&name))assay_next_function(ASSAY_CALL_##name))

// A compile-time constant if the call is one.
static inline enum assay_effect assay_effect_of(enum assay_call call) {
    switch (call) {
#define ASSAY_EFFECT(name, effect)                                                                                    \
    case ASSAY_CALL_##name:                                                                                           \
        return effect;
        ASSAY_CALLS(ASSAY_EFFECT)
#undef ASSAY_EFFECT
    default:
        return ASSAY_OTHER;
    }
}

#pragma GCC visibility pop
