#if defined(__linux__)
#include "naming.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

// Calls that are traced and not counted.

#define NAME(kind, from, path, to, destination, call)                                                                 \
    struct assay_naming naming;                                                                                       \
    assay_naming_begin(&naming, kind, from, path, to, destination);                                                   \
    int result = call;                                                                                                \
    assay_naming_end(&naming, result);                                                                                \
    return result

EXPORTED int mkdir(const char *path, mode_t mode) {
    NAME(ASSAY_TRACE_MAKE_DIRECTORY, AT_FDCWD, path, AT_FDCWD, NULL, NEXT(mkdir)(path, mode));
}

EXPORTED int mkdirat(int directory, const char *path, mode_t mode) {
    NAME(ASSAY_TRACE_MAKE_DIRECTORY, directory, path, AT_FDCWD, NULL, NEXT(mkdirat)(directory, path, mode));
}

EXPORTED int rmdir(const char *path) {
    NAME(ASSAY_TRACE_UNLINK, AT_FDCWD, path, AT_FDCWD, NULL, NEXT(rmdir)(path));
}

#define NODE(directory, path, call) NAME(ASSAY_TRACE_NODE, AT_FDCWD, NULL, directory, path, call)

EXPORTED int symlink(const char *target, const char *path) { NODE(AT_FDCWD, path, NEXT(symlink)(target, path)); }

EXPORTED int symlinkat(const char *target, int directory, const char *path) {
    NODE(directory, path, NEXT(symlinkat)(target, directory, path));
}

EXPORTED int mkfifo(const char *path, mode_t mode) { NODE(AT_FDCWD, path, NEXT(mkfifo)(path, mode)); }

EXPORTED int mkfifoat(int directory, const char *path, mode_t mode) {
    NODE(directory, path, NEXT(mkfifoat)(directory, path, mode));
}

EXPORTED int mknod(const char *path, mode_t mode, dev_t device) {
    NODE(AT_FDCWD, path, NEXT(mknod)(path, mode, device));
}

EXPORTED int mknodat(int directory, const char *path, mode_t mode, dev_t device) {
    NODE(directory, path, NEXT(mknodat)(directory, path, mode, device));
}

// Copies the path of a socket, which need not be terminated in the address. False if the socket has none.
static bool socket_path(const struct sockaddr *address, socklen_t length, char path[]) {
    size_t start = offsetof(struct sockaddr_un, sun_path);
    if (!address || length <= start || address->sa_family != AF_UNIX) return false;
    size_t count = length - start < sizeof((struct sockaddr_un *)0)->sun_path
        ? length - start
        : sizeof((struct sockaddr_un *)0)->sun_path;
    memcpy(path, (const char *)address + start, count);
    path[count] = 0;
    return path[0] != 0;
}

EXPORTED int bind(int fd, __CONST_SOCKADDR_ARG given, socklen_t length) {
    const struct sockaddr *address = given.__sockaddr__;
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 1];
    if (!assay_traces() || !socket_path(address, length, path)) return NEXT(bind)(fd, given, length);
    NODE(AT_FDCWD, path, NEXT(bind)(fd, given, length));
}

// These end the process without destructors, so that the trace is ended here.
EXPORTED void _exit(int status) {
    assay_trace_end();
    NEXT(_exit)(status);
    abort();
}

EXPORTED void _Exit(int status) {
    assay_trace_end();
    NEXT(_Exit)(status);
    abort();
}
#endif
