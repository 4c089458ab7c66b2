#if defined(__linux__)
#include "operation.h"
#include <stdarg.h>
#include <stdint.h>

// Forgets what was cached for a descriptor that an open has just returned, and counts the open.
static int opened(int fd) {
    if (fd < 0) return fd;
    assay_forget(fd);
    if (assay_target_of(fd).kind != ASSAY_OUTSIDE) COUNT(opens, 1);
    return fd;
}

// The strike for an open, which counts as a creation if the file does not exist and may be created.
static struct assay_strike meet_fault(int directory, const char *path, int flags) {
    struct assay_strike none = {0};
    if (!assay_strikes() || !assay_is_path_below_root(directory, path)) return none;
    int error = errno;
    bool makes = (flags & __O_TMPFILE) == __O_TMPFILE
        || (flags & O_CREAT && faccessat(directory, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0);
    errno = error;
    return assay_strike(makes ? ASSAY_FAULT_CREATE : ASSAY_FAULT_OPEN, 0);
}

#define OPEN(directory, path, flags, call)                                                                            \
    struct {                                                                                                          \
        struct assay_strike strike;                                                                                   \
    } operation = {meet_fault(directory, path, flags)};                                                               \
    struct assay_opening opening = assay_opening_begin(directory, path, flags);                                       \
    int result = opened(PASS(call));                                                                                  \
    assay_opening_end(&opening, flags, result);                                                                       \
    assay_struck(operation.strike);                                                                                   \
    return result

// Forgets what was cached for a descriptor that a copying call has just returned.
static int given(int fd) {
    if (fd >= 0) assay_forget(fd);
    return fd;
}

// The third argument exists only if a file may be created.
#define MODE(flags)                                                                                                   \
    mode_t mode = 0;                                                                                                  \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                                          \
        va_list arguments;                                                                                            \
        va_start(arguments, flags);                                                                                   \
        mode = va_arg(arguments, mode_t);                                                                             \
        va_end(arguments);                                                                                            \
    }

EXPORTED int open(const char *path, int flags, ...) {
    MODE(flags)
    OPEN(AT_FDCWD, path, flags, NEXT(open)(path, flags, mode));
}

EXPORTED int open64(const char *path, int flags, ...) {
    MODE(flags)
    OPEN(AT_FDCWD, path, flags, NEXT(open64)(path, flags, mode));
}

EXPORTED int openat(int directory, const char *path, int flags, ...) {
    MODE(flags)
    OPEN(directory, path, flags, NEXT(openat)(directory, path, flags, mode));
}

EXPORTED int openat64(int directory, const char *path, int flags, ...) {
    MODE(flags)
    OPEN(directory, path, flags, NEXT(openat64)(directory, path, flags, mode));
}

// libc's own functions below check their arguments and call another function of libc. If that one is redirected to this
// library, it would record and strike a call twice. In that case these wrappers call the other function themselves.

EXPORTED int __open_2(const char *path, int flags) {
    if (assay_traces() || assay_strikes()) return open64(path, flags);
    OPEN(AT_FDCWD, path, flags, NEXT(__open_2)(path, flags));
}

EXPORTED int __open64_2(const char *path, int flags) {
    if (assay_traces() || assay_strikes()) return open64(path, flags);
    OPEN(AT_FDCWD, path, flags, NEXT(__open64_2)(path, flags));
}

EXPORTED int __openat_2(int directory, const char *path, int flags) {
    OPEN(directory, path, flags, NEXT(__openat_2)(directory, path, flags));
}

EXPORTED int __openat64_2(int directory, const char *path, int flags) {
    OPEN(directory, path, flags, NEXT(__openat64_2)(directory, path, flags));
}

EXPORTED int creat(const char *path, mode_t mode) {
    if (assay_traces() || assay_strikes()) return open64(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    OPEN(AT_FDCWD, path, O_CREAT, NEXT(creat)(path, mode));
}

EXPORTED int creat64(const char *path, mode_t mode) {
    if (assay_traces() || assay_strikes()) return open64(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    OPEN(AT_FDCWD, path, O_CREAT, NEXT(creat64)(path, mode));
}

// The descriptor is forgotten before the close: afterwards another thread may own its number.
EXPORTED int close(int fd) {
    assay_forget(fd);
    return NEXT(close)(fd);
}

EXPORTED int close_range(unsigned first, unsigned last, int flags) {
    assay_forget_range(first, last);
    return NEXT(close_range)(first, last, flags);
}

EXPORTED void closefrom(int first) {
    assay_forget_range(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
    NEXT(closefrom)(first);
}

EXPORTED int fclose(FILE *file) {
    int fd = fileno(file);
    assay_forget(fd);
    int result = NEXT(fclose)(file);
    // Flushing the stream has cached it again.
    assay_forget(fd);
    return result;
}

EXPORTED int closedir(DIR *directory) {
    assay_forget(dirfd(directory));
    return NEXT(closedir)(directory);
}

EXPORTED int dup(int fd) { return given(NEXT(dup)(fd)); }

EXPORTED int dup2(int fd, int copy) { return given(NEXT(dup2)(fd, copy)); }

EXPORTED int dup3(int fd, int copy, int flags) { return given(NEXT(dup3)(fd, copy, flags)); }

static int controlled(int fd, int command, int result) {
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return given(result);
    // Linux does not let it change O_SYNC or O_DSYNC; the flags are read again all the same.
    if (command == F_SETFL) assay_forget(fd);
    return result;
}

// All commands take one word or none.
#define ARGUMENT(command)                                                                                             \
    va_list arguments;                                                                                                \
    va_start(arguments, command);                                                                                     \
    void *argument = va_arg(arguments, void *);                                                                       \
    va_end(arguments);

EXPORTED int fcntl(int fd, int command, ...) {
    ARGUMENT(command)
    return controlled(fd, command, NEXT(fcntl)(fd, command, argument));
}

EXPORTED int fcntl64(int fd, int command, ...) {
    ARGUMENT(command)
    return controlled(fd, command, NEXT(fcntl64)(fd, command, argument));
}
#endif
