#if defined(__linux__)
#include "operation.h"

// Counted when either name is below a watched directory.
static bool is_watched(int from, const char *path, int to, const char *destination) {
    return assay_is_path_below_root(from, path) || assay_is_path_below_root(to, destination);
}

EXPORTED int rename(const char *path, const char *destination) {
    if (is_watched(AT_FDCWD, path, AT_FDCWD, destination)) COUNT(renames, 1);
    return NEXT(rename)(path, destination);
}

EXPORTED int renameat(int from, const char *path, int to, const char *destination) {
    if (is_watched(from, path, to, destination)) COUNT(renames, 1);
    return NEXT(renameat)(from, path, to, destination);
}

EXPORTED int renameat2(int from, const char *path, int to, const char *destination, unsigned flags) {
    if (is_watched(from, path, to, destination)) COUNT(renames, 1);
    return NEXT(renameat2)(from, path, to, destination, flags);
}

EXPORTED int link(const char *path, const char *destination) {
    if (is_watched(AT_FDCWD, path, AT_FDCWD, destination)) COUNT(links, 1);
    return NEXT(link)(path, destination);
}

EXPORTED int linkat(int from, const char *path, int to, const char *destination, int flags) {
    if (is_watched(from, path, to, destination)) COUNT(links, 1);
    return NEXT(linkat)(from, path, to, destination, flags);
}

EXPORTED int unlink(const char *path) {
    if (assay_is_path_below_root(AT_FDCWD, path)) COUNT(unlinks, 1);
    return NEXT(unlink)(path);
}

EXPORTED int unlinkat(int directory, const char *path, int flags) {
    if (!(flags & AT_REMOVEDIR) && assay_is_path_below_root(directory, path)) COUNT(unlinks, 1);
    return NEXT(unlinkat)(directory, path, flags);
}

// libc's own, which ends in unlink or rmdir without coming by here again.
EXPORTED int remove(const char *path) {
    if (assay_is_path_below_root(AT_FDCWD, path)) COUNT(unlinks, 1);
    return NEXT(remove)(path);
}
#endif
