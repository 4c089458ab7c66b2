#if defined(__linux__)
#include "descriptors.h"
#include "calls.h"
#include "room.h"
#include "trace.h"
#include "witness.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

_Atomic uint32_t assay_descriptors[ASSAY_DESCRIPTOR_LIMIT];
// The entries above it are unused.
static _Atomic int highest = -1;

void assay_forget_range(unsigned first, unsigned last) {
    int end = atomic_load(&highest);
    for (unsigned fd = first; end >= 0 && fd <= (unsigned)end && fd <= last; fd++) assay_forget((int)fd);
}

void assay_forget_all(void) { assay_forget_range(0, UINT_MAX); }

// The target of a link in /proc/self. False if the kernel does not tell.
static bool read_link(const char *link, char path[PATH_MAX]) {
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return false;
    path[length] = 0;
    return true;
}

bool assay_descriptor_path(int fd, char path[]) {
    char link[32] = "/proc/self/fd/";
    char digits[12];
    int count = 0;
    for (unsigned rest = (unsigned)fd; count == 0 || rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
    size_t length = strlen(link);
    while (count > 0) link[length++] = digits[--count];
    link[length] = 0;
    if (!read_link(link, path)) return false;
    // The kernel's suffix to the path of an open file that was removed.
    static const char removed[] = " (deleted)";
    size_t end = strlen(path), tail = sizeof removed - 1;
    if (end > tail && strcmp(path + end - tail, removed) == 0) path[end - tail] = 0;
    return true;
}

static uint32_t file_entry(const struct statx *status, bool is_log) {
    uint64_t birth = status->stx_mask & STATX_BTIME
        ? (uint64_t)status->stx_btime.tv_sec * 1000000000u + status->stx_btime.tv_nsec
        : 0;
    uint64_t device = (uint64_t)status->stx_dev_major << 32 | status->stx_dev_minor;
    uint32_t log = assay_find_log(device, status->stx_ino, birth, is_log);
    uint32_t generation = atomic_load(&assay_shared->logs[log].generation);
    return (is_log ? ASSAY_LOG : ASSAY_DATA) | (generation & 0xFFF) << 4 | log << 16;
}

static uint32_t examine(int fd) {
    struct statx status;
    // This call requests no change times. A file system with multigrain timestamps that has reported one would set a
    // timestamp of its own at the next write, which makes the next sync more expensive.
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_BTIME, &status) != 0) return ASSAY_UNKNOWN;
    bool is_directory = S_ISDIR(status.stx_mode);
    if (!is_directory && !S_ISREG(status.stx_mode)) return assay_is_output(fd) ? ASSAY_OUTPUT : ASSAY_OUTSIDE;
    char *path = assay_room();
    bool is_known = assay_descriptor_path(fd, path);
    bool is_below = is_known && is_directory && assay_is_below_root(path);
    enum assay_role role = is_known && !is_directory ? assay_role_of(path) : ASSAY_ROLE_OUTSIDE;
    assay_room_back(path);
    if (is_below) return ASSAY_DIRECTORY;
    if (role == ASSAY_ROLE_OUTSIDE) return ASSAY_OUTSIDE;
    uint32_t entry = file_entry(&status, role == ASSAY_ROLE_LOG);
    int flags = NEXT(fcntl)(fd, F_GETFL);
    // O_SYNC includes this bit.
    if (flags >= 0 && flags & O_DSYNC) entry |= 1u << 3;
    return entry;
}

uint32_t assay_ask(int fd) {
    int error = errno;
    uint32_t entry = examine(fd);
    errno = error;
    if (entry == ASSAY_UNKNOWN) return ASSAY_OUTSIDE;
    if (fd < ASSAY_DESCRIPTOR_LIMIT) {
        int seen = atomic_load(&highest);
        while (seen < fd && !atomic_compare_exchange_weak(&highest, &seen, fd)) {}
        atomic_store_explicit(&assay_descriptors[fd], entry, memory_order_relaxed);
    }
    return entry;
}

// Whether the path leads from `base`, which it is appended to, into a watched directory: `Reports/run/data` of a process
// in the directory above. A path with a component `..` is not resolved, and counts as outside.
static bool leads_below_root(char *base, const char *path) {
    while (path[0] == '.' && path[1] == '/') path += 2;
    size_t length = strcmp(base, "/") == 0 ? 0 : strlen(base);
    if (strstr(path, "/..") || length + 1 + strlen(path) >= PATH_MAX) return false;
    base[length] = '/';
    strcpy(base + length + 1, path);
    return assay_is_below_root(base);
}

bool assay_is_path_below_root(int directory, const char *path) {
    if (!atomic_load_explicit(&assay_is_watching, memory_order_relaxed) || !path) return false;
    if (path[0] == '/') return assay_is_below_root(path);
    int error = errno;
    char *base = assay_room();
    bool is_known = directory == AT_FDCWD ? read_link("/proc/self/cwd", base) : assay_descriptor_path(directory, base);
    // A path that begins with `..` may lead out of the directory, or back into it. It is not resolved, and counts as
    // outside.
    bool is_below =
        is_known && strncmp(path, "..", 2) != 0 && (assay_is_below_root(base) || leads_below_root(base, path));
    assay_room_back(base);
    errno = error;
    return is_below;
}
#endif
