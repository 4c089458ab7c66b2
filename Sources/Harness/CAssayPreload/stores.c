#if defined(__linux__)
#include "trace.h"
#include "kernel.h"
#include "state.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

// Stores through shared maps, for the trace. A store makes no call, so each map has a copy of its last known contents.
// Before the next operation is recorded, the differences are recorded as writes.
//
// The caller holds the trace's lock.

#define MAP_LIMIT 64
// Larger maps are not copied.
#define COPY_LIMIT ((size_t)512 << 20)
#define SECTOR 512

struct map {
    char *base;
    size_t length;
    int64_t offset;
    struct assay_target target;
    uint64_t inode;
    // This library's own descriptor of the file, so that the file's size is available after the program has closed its
    // descriptor. Opened with O_PATH: closing it releases none of the program's locks, and it holds none.
    int fd;
    // NULL while the map is not writable.
    char *copy;
    size_t copied;
    // The process that made the map: a forked child closes descriptors only for itself.
    uint32_t process;
    // Whether the program has closed this library's descriptor.
    bool is_lost;
};

static struct map maps[MAP_LIMIT];
static int map_count;
static size_t copy_total;
// A copy of the page that is compared: if the program changes the page meanwhile, the trace has what was copied here.
static char look[4096];

static void *take(size_t length) {
    void *memory = NEXT(mmap)(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static uint32_t own_process(void) { return (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0); }

// Whether the size of the mapped file is available.
static bool is_watched(struct map *map, struct stat *status) {
    if (map->is_lost) return false;
    if (kernel_call(SYS_fstat, map->fd, (long)status, 0, 0, 0, 0) >= 0 && status->st_ino == map->inode) return true;
    if (map->process != own_process()) return false;
    map->is_lost = true;
    assay_trace_unseen("the program closed a descriptor that it had not opened, by which a map was watched");
    return false;
}

// How much of the map is backed by the file: reading beyond would kill the process. False if unknown.
static bool backed(struct map *map, size_t *end) {
    struct stat status;
    *end = 0;
    if (!is_watched(map, &status)) return false;
    int64_t rest = (int64_t)status.st_size - map->offset;
    if (rest > 0) *end = (size_t)rest < map->length ? (size_t)rest : map->length;
    return true;
}

static void begin_copy(struct map *map) {
    if (map->copy) return;
    if (copy_total + map->length > COPY_LIMIT || !(map->copy = take(map->length))) {
        assay_trace_unseen("a file is mapped for writing that is too large to be watched");
        return;
    }
    copy_total += map->length;
    backed(map, &map->copied);
    memcpy(map->copy, map->base, map->copied);
}

static void note_run(const struct map *map, size_t start, size_t end) {
    struct iovec part = {map->copy + start, end - start};
    assay_trace_data(ASSAY_TRACE_WRITE, map->inode, map->offset + (int64_t)start, &part, 1, end - start);
}

static void compare(struct map *map) {
    size_t end;
    if (!map->copy || !backed(map, &end)) return;
    // The part by which the file grew reads as zeros until it is stored to.
    if (end > map->copied) memset(map->copy + map->copied, 0, end - map->copied);
    map->copied = end;
    size_t run = 0;
    bool is_run = false;
    for (size_t page = 0; page < end; page += sizeof look) {
        size_t count = end - page < sizeof look ? end - page : sizeof look;
        if (memcmp(map->copy + page, map->base + page, count) == 0) {
            if (is_run) note_run(map, run, page);
            is_run = false;
            continue;
        }
        memcpy(look, map->base + page, count);
        for (size_t place = 0; place < count; place += SECTOR) {
            size_t length = count - place < SECTOR ? count - place : SECTOR;
            bool differs = memcmp(map->copy + page + place, look + place, length) != 0;
            if (differs && !is_run) run = page + place;
            if (!differs && is_run) note_run(map, run, page + place);
            is_run = differs;
            if (differs) memcpy(map->copy + page + place, look + place, length);
        }
    }
    if (is_run) note_run(map, run, end);
}

void assay_trace_stores(void) {
    for (int index = 0; index < map_count; index++) compare(&maps[index]);
}

static void drop_copy(struct map *map) {
    if (!map->copy) return;
    NEXT(munmap)(map->copy, map->length);
    copy_total -= map->length;
    map->copy = NULL;
}

static void drop(struct map *map) {
    drop_copy(map);
    if (!map->is_lost) kernel_call(SYS_close, map->fd, 0, 0, 0, 0, 0);
    *map = maps[--map_count];
}

// A descriptor that only identifies the program's file, with a number above those that the program uses. Negative if
// there is none.
static long name_file(int fd) {
    char link[32] = "/proc/self/fd/", digits[12];
    size_t end = strlen(link);
    int count = 0;
    for (unsigned rest = (unsigned)fd; count == 0 || rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
    while (count > 0) link[end++] = digits[--count];
    link[end] = 0;
    long low = kernel_call(SYS_openat, AT_FDCWD, (long)link, O_PATH | O_CLOEXEC, 0, 0, 0);
    if (low < 0) return low;
    struct rlimit limit = {.rlim_cur = 1024};
    kernel_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
    long place = limit.rlim_cur < 1024 ? (long)limit.rlim_cur / 4 * 3 : 700;
    long high = kernel_call(SYS_fcntl, low, F_DUPFD_CLOEXEC, place, 0, 0, 0);
    kernel_call(SYS_close, low, 0, 0, 0, 0, 0);
    return high;
}

void assay_trace_map(void *base, size_t length, int64_t offset, int fd, struct assay_target target, bool is_written) {
    int error = errno;
    // A map at a reused address replaces the old one.
    assay_trace_unmap(base, length);
    // Only a map of a descriptor that is open for reading and writing can become writable.
    long flags = kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDWR) {
        long own = map_count < MAP_LIMIT ? name_file(fd) : -1;
        if (own < 0) {
            assay_trace_unseen("more maps of files than can be watched");
        } else {
            assay_forget((int)own);
            maps[map_count] = (struct map){
                .base = base, .length = length, .offset = offset, .target = target,
                .inode = atomic_load(&assay_shared->logs[target.log].inode), .fd = (int)own, .process = own_process()};
            if (is_written) begin_copy(&maps[map_count]);
            map_count++;
        }
    }
    errno = error;
}

static bool overlaps(const struct map *map, const void *address, size_t length) {
    return (const char *)address < map->base + map->length && map->base < (const char *)address + length;
}

// To be called when the program may store through these maps from now on.
void assay_trace_maps_written(void *address, size_t length) {
    int error = errno;
    for (int index = 0; index < map_count; index++) {
        if (overlaps(&maps[index], address, length)) begin_copy(&maps[index]);
    }
    errno = error;
}

// To be called before the unmap: afterwards the contents of the maps are gone.
void assay_trace_unmap(void *address, size_t length) {
    int error = errno;
    for (int index = map_count - 1; index >= 0; index--) {
        struct map *map = &maps[index];
        if (!overlaps(map, address, length)) continue;
        bool is_whole = (char *)address <= map->base && map->base + map->length <= (char *)address + length;
        compare(map);
        if (!is_whole && map->copy) assay_trace_unseen("a map that is stored through was taken away in pieces");
        drop(map);
    }
    errno = error;
}

void assay_trace_moves(void *address) {
    int error = errno;
    for (int index = 0; index < map_count; index++) {
        if (overlaps(&maps[index], address, 1)) compare(&maps[index]);
    }
    errno = error;
}

static size_t whole_pages(size_t length) { return (length + 4095) / 4096 * 4096; }

void assay_trace_moved(void *address, size_t length, void *base, size_t wanted) {
    int error = errno;
    for (int index = map_count - 1; index >= 0; index--) {
        struct map *map = &maps[index];
        if (!overlaps(map, address, length > 0 ? length : 1)) continue;
        bool is_written = map->copy != NULL;
        if (map->base == (char *)address && whole_pages(map->length) == whole_pages(length)) {
            drop_copy(map);
            map->base = base;
            map->length = wanted;
            if (is_written) begin_copy(map);
        } else {
            if (is_written) assay_trace_unseen("a map that is stored through was moved in pieces");
            drop(map);
        }
    }
    errno = error;
}

void assay_trace_msync(void *address, size_t length, bool waits, int result) {
    int error = errno;
    for (int index = 0; index < map_count; index++) {
        struct map *map = &maps[index];
        if (!overlaps(map, address, length)) continue;
        size_t start = (char *)address > map->base ? (size_t)((char *)address - map->base) : 0;
        size_t end = (char *)address + length - map->base;
        if (end > map->length) end = map->length;
        if (!waits) assay_trace_file(ASSAY_TRACE_WRITE_BACK, map->target, 0, 0, false);
        else if (result != 0) assay_trace_file(ASSAY_TRACE_SYNC, map->target, 0, 0, true);
        else
            assay_trace_file(
                ASSAY_TRACE_SYNC_RANGE, map->target, map->offset + (int64_t)start, (int64_t)(end - start), false);
    }
    errno = error;
}

// A recorded write has changed the maps of its file, too: this change must not be recorded again as a store.
void assay_trace_known(uint64_t inode, int64_t offset, const struct iovec *parts, int count, size_t bytes) {
    for (int index = 0; index < map_count; index++) {
        struct map *map = &maps[index];
        if (!map->copy || map->inode != inode) continue;
        int64_t place = offset - map->offset;
        size_t rest = bytes;
        for (int part = 0; part < count && rest > 0; part++) {
            size_t length = parts[part].iov_len < rest ? parts[part].iov_len : rest;
            for (size_t byte = 0; byte < length; byte++) {
                int64_t target = place + (int64_t)byte;
                if (target >= 0 && (size_t)target < map->length)
                    map->copy[target] = ((const char *)parts[part].iov_base)[byte];
            }
            place += (int64_t)length;
            rest -= length;
        }
        // Bytes between the old end and the write are zeros.
        size_t end;
        if (backed(map, &end) && end > map->copied) map->copied = end;
    }
}
#endif
