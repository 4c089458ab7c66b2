#if defined(__linux__)
#include "operation.h"

// Whether a call with two names is counted: if either name is below a watched directory.
static bool is_watched(int from, const char *path, int to, const char *destination) {
    return assay_is_path_below_root(from, path) || assay_is_path_below_root(to, destination);
}

EXPORTED int rename(const char *path, const char *destination) {
    CHANGE_PATH(is_watched(AT_FDCWD, path, AT_FDCWD, destination), renames, ASSAY_FAULT_RENAME,
        (&naming, ASSAY_TRACE_RENAME, AT_FDCWD, path, AT_FDCWD, destination), NEXT(rename)(path, destination));
}

EXPORTED int renameat(int from, const char *path, int to, const char *destination) {
    CHANGE_PATH(is_watched(from, path, to, destination), renames, ASSAY_FAULT_RENAME,
        (&naming, ASSAY_TRACE_RENAME, from, path, to, destination), NEXT(renameat)(from, path, to, destination));
}

EXPORTED int renameat2(int from, const char *path, int to, const char *destination, unsigned flags) {
    CHANGE_PATH(is_watched(from, path, to, destination), renames, ASSAY_FAULT_RENAME,
        (&naming, ASSAY_TRACE_RENAME, from, path, to, destination),
        (naming.is_exchange = flags & RENAME_EXCHANGE, NEXT(renameat2))(from, path, to, destination, flags));
}

EXPORTED int link(const char *path, const char *destination) {
    CHANGE_PATH(is_watched(AT_FDCWD, path, AT_FDCWD, destination), links, ASSAY_FAULT_LINK,
        (&naming, ASSAY_TRACE_LINK, AT_FDCWD, path, AT_FDCWD, destination), NEXT(link)(path, destination));
}

EXPORTED int linkat(int from, const char *path, int to, const char *destination, int flags) {
    CHANGE_PATH(is_watched(from, path, to, destination), links, ASSAY_FAULT_LINK,
        (&naming, ASSAY_TRACE_LINK, from, path, to, destination), NEXT(linkat)(from, path, to, destination, flags));
}

EXPORTED int unlink(const char *path) {
    CHANGE_PATH(assay_is_path_below_root(AT_FDCWD, path), unlinks, ASSAY_FAULT_UNLINK,
        (&naming, ASSAY_TRACE_UNLINK, AT_FDCWD, path, AT_FDCWD, NULL), NEXT(unlink)(path));
}

EXPORTED int unlinkat(int directory, const char *path, int flags) {
    CHANGE_PATH(!(flags & AT_REMOVEDIR) && assay_is_path_below_root(directory, path), unlinks, ASSAY_FAULT_UNLINK,
        (&naming, ASSAY_TRACE_UNLINK, directory, path, AT_FDCWD, NULL), NEXT(unlinkat)(directory, path, flags));
}

// libc's own remove calls unlink or rmdir inside libc, past this library.
EXPORTED int remove(const char *path) {
    CHANGE_PATH(assay_is_path_below_root(AT_FDCWD, path), unlinks, ASSAY_FAULT_UNLINK,
        (&naming, ASSAY_TRACE_UNLINK, AT_FDCWD, path, AT_FDCWD, NULL), NEXT(remove)(path));
}
#endif
