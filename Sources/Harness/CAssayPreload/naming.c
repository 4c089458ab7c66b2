#if defined(__linux__)
#include "naming.h"
#include "kernel.h"
#include "state.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool look(int directory, const char *path, struct stat *status, int flags) {
    return kernel_call(SYS_newfstatat, directory, (long)path, (long)status, flags, 0, 0) == 0;
}

// Whether `path` is the name of a watched file; if the entry is a directory, whether it is below a watched one.
static bool is_ours(const struct assay_naming *naming, const char *path) {
    return naming->is_directory ? assay_is_below_root(path) : assay_role_of(path) != ASSAY_ROLE_OUTSIDE;
}

void assay_naming_start(
    struct assay_naming *naming, int kind, int from, const char *path, int to, const char *destination) {
    int error = errno;
    assay_trace_stores();
    naming->kind = kind;
    naming->path = assay_room();
    naming->destination = assay_room();
    struct stat status;
    bool is_there = path && look(from, path, &status, kind == ASSAY_TRACE_TRUNCATE ? 0 : AT_SYMLINK_NOFOLLOW);
    naming->is_directory = kind == ASSAY_TRACE_MAKE_DIRECTORY || (is_there && S_ISDIR(status.st_mode));
    naming->is_watched = assay_trace_path(from, path, naming->path) && is_ours(naming, naming->path);
    naming->is_destination_watched =
        destination && assay_trace_path(to, destination, naming->destination) && is_ours(naming, naming->destination);
    errno = error;
}

static void record_rename(const struct assay_naming *naming) {
    const char *from = naming->path, *to = naming->destination;
    if (!naming->is_watched && !naming->is_destination_watched) return;
    if (naming->is_directory) {
        assay_trace_unseen("a directory was renamed");
    } else if (naming->is_exchange) {
        assay_trace_unseen("two files changed their names in one call");
    } else if (!naming->is_destination_watched) {
        assay_trace_name(ASSAY_TRACE_UNLINK, 0, from, NULL, false);
    } else if (!naming->is_watched) {
        assay_trace_unseen("a file that was not watched was moved in from elsewhere");
    } else {
        assay_trace_name(ASSAY_TRACE_RENAME, 0, from, to, false);
    }
}

// A symbolic link, a FIFO or a socket: its name and type are all that is recorded.
static void record_node(const struct assay_naming *naming) {
    struct stat status;
    if (!naming->is_destination_watched || !look(AT_FDCWD, naming->destination, &status, AT_SYMLINK_NOFOLLOW)) return;
    if (S_ISREG(status.st_mode)) {
        assay_trace_made(ASSAY_TRACE_CREATE, status.st_ino, status.st_mode, naming->destination, NULL);
        return;
    }
    char *target = assay_room();
    long length = S_ISLNK(status.st_mode)
        ? kernel_call(SYS_readlinkat, AT_FDCWD, (long)naming->destination, (long)target, PATH_MAX - 1, 0, 0)
        : 0;
    target[length > 0 ? length : 0] = 0;
    assay_trace_made(ASSAY_TRACE_NODE, status.st_ino, status.st_mode, naming->destination, target);
    assay_room_back(target);
}

void assay_naming_record(struct assay_naming *naming, int result) {
    if (result != 0) return;
    int error = errno;
    struct stat status;
    switch (naming->kind) {
    case ASSAY_TRACE_RENAME:
        record_rename(naming);
        break;
    case ASSAY_TRACE_LINK:
        if (!naming->is_destination_watched) break;
        if (look(AT_FDCWD, naming->destination, &status, AT_SYMLINK_NOFOLLOW))
            assay_trace_name(ASSAY_TRACE_LINK, status.st_ino, naming->destination, NULL, false);
        break;
    case ASSAY_TRACE_TRUNCATE:
        if (!naming->is_watched || !look(AT_FDCWD, naming->path, &status, 0)) break;
        assay_trace_size(status.st_ino, (int64_t)status.st_size);
        break;
    case ASSAY_TRACE_UNLINK:
        if (!naming->is_watched) break;
        assay_trace_name(
            naming->is_directory ? ASSAY_TRACE_REMOVE_DIRECTORY : ASSAY_TRACE_UNLINK, 0, naming->path, NULL, false);
        break;
    case ASSAY_TRACE_MAKE_DIRECTORY:
        if (naming->is_watched && look(AT_FDCWD, naming->path, &status, AT_SYMLINK_NOFOLLOW))
            assay_trace_made(ASSAY_TRACE_MAKE_DIRECTORY, 0, status.st_mode, naming->path, NULL);
        break;
    case ASSAY_TRACE_NODE:
        record_node(naming);
        break;
    default:
        break;
    }
    errno = error;
}

struct assay_opening assay_opening_begin(int directory, const char *path, int flags) {
    struct assay_opening opening = {0};
    bool may_change = flags & (O_CREAT | O_TRUNC) || (flags & __O_TMPFILE) == __O_TMPFILE;
    if (!assay_traces() || !may_change || !(opening.is_held = assay_trace_begin())) return opening;
    int error = errno;
    assay_trace_stores();
    struct stat status;
    opening.existed = look(directory, path, &status, 0);
    opening.had_bytes = opening.existed && status.st_size > 0;
    // Opening a FIFO may wait for another process, which may wait for this lock.
    if (opening.existed && !S_ISREG(status.st_mode)) {
        assay_trace_unlock();
        opening.is_held = false;
    }
    errno = error;
    return opening;
}

static void record_creation(struct assay_target target, int fd) {
    uint64_t inode = atomic_load(&assay_shared->logs[target.log].inode);
    struct stat status;
    uint32_t mode = kernel_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 ? status.st_mode : 0;
    char *path = assay_room();
    if (assay_descriptor_path(fd, path)) assay_trace_made(ASSAY_TRACE_CREATE, inode, mode, path, NULL);
    assay_room_back(path);
}

void assay_opening_end(const struct assay_opening *opening, int flags, int fd) {
    if (!opening->is_held) return;
    int error = errno;
    struct assay_target target = assay_target_of(fd);
    if (assay_is_file(target)) {
        if ((flags & __O_TMPFILE) == __O_TMPFILE) {
            assay_trace_unseen("a file without a name was made (O_TMPFILE)");
        } else if (!opening->existed) {
            record_creation(target, fd);
        } else if (flags & O_TRUNC && opening->had_bytes) {
            assay_trace_file(ASSAY_TRACE_TRUNCATE, target, 0, 0, false);
        }
    }
    assay_trace_unlock();
    errno = error;
}
#endif
