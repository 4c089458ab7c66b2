#if defined(__linux__)
#include "kernel.h"
#include "room.h"
#include "trace.h"
#include <errno.h>
#include <string.h>

// Permissions, for the trace: a directory rebuilt from it gets those that the program set.

// Records the mode of a descriptor's file; the descriptor need not be readable or writable.
static void note_mode(int fd) {
    struct stat status;
    if (kernel_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0) return;
    char *path = assay_room();
    if (assay_descriptor_path(fd, path)) {
        bool is_directory = S_ISDIR(status.st_mode);
        if (is_directory ? assay_is_below_root(path) : assay_role_of(path) != ASSAY_ROLE_OUTSIDE)
            assay_trace_made(ASSAY_TRACE_MODE, is_directory ? 0 : status.st_ino, status.st_mode, path, NULL);
    }
    assay_room_back(path);
}

static void note_mode_of_path(int directory, const char *path, int flags) {
    int follow = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;
    long fd = kernel_call(SYS_openat, directory, (long)path, O_PATH | O_CLOEXEC | follow, 0, 0, 0);
    if (fd < 0) return;
    note_mode((int)fd);
    kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

#define CHANGE_MODE(call, note)                                                                                       \
    bool is_held = assay_trace_begin();                                                                               \
    int result = call;                                                                                                \
    int error = errno;                                                                                                \
    if (is_held && result == 0) note;                                                                                 \
    errno = error;                                                                                                    \
    assay_trace_finish(is_held);                                                                                      \
    return result

EXPORTED int chmod(const char *path, mode_t mode) {
    CHANGE_MODE(NEXT(chmod)(path, mode), note_mode_of_path(AT_FDCWD, path, 0));
}

EXPORTED int fchmod(int fd, mode_t mode) { CHANGE_MODE(NEXT(fchmod)(fd, mode), note_mode(fd)); }

EXPORTED int fchmodat(int directory, const char *path, mode_t mode, int flags) {
    CHANGE_MODE(NEXT(fchmodat)(directory, path, mode, flags), note_mode_of_path(directory, path, flags));
}

// An access list contains the permissions: programs that copy them with a file set it instead of a mode.
static bool is_access(const char *name) { return name && strcmp(name, "system.posix_acl_access") == 0; }

EXPORTED int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    if (!is_access(name)) return NEXT(setxattr)(path, name, value, size, flags);
    CHANGE_MODE(NEXT(setxattr)(path, name, value, size, flags), note_mode_of_path(AT_FDCWD, path, 0));
}

EXPORTED int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
    if (!is_access(name)) return NEXT(fsetxattr)(fd, name, value, size, flags);
    CHANGE_MODE(NEXT(fsetxattr)(fd, name, value, size, flags), note_mode(fd));
}
#endif
