#if defined(__linux__)
#include "naming.h"
#include <stdarg.h>
#include <stdlib.h>

// Calls that the trace has to know and that nobody counts.

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

EXPORTED int symlink(const char *target, const char *path) {
    NAME(ASSAY_TRACE_UNSEEN, AT_FDCWD, target, AT_FDCWD, path, NEXT(symlink)(target, path));
}

EXPORTED int symlinkat(const char *target, int directory, const char *path) {
    NAME(ASSAY_TRACE_UNSEEN, AT_FDCWD, target, directory, path, NEXT(symlinkat)(target, directory, path));
}

// Ends without the destructors.
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
