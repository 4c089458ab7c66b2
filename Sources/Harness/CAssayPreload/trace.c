#if defined(__linux__)
#include "trace.h"
#include "kernel.h"
#include "past.h"
#include "room.h"
#include "state.h"
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

_Atomic bool assay_is_tracing;

// The first page of ASSAY_TRACE_LOCK, initially zeros.
static struct control {
    _Atomic uint32_t owner;
    _Atomic uint64_t number;
    // Identity of the first program's standard output.
    _Atomic uint64_t output_device;
    _Atomic uint64_t output_inode;
    _Atomic bool has_output;
    // Set by the first program that requests the watch over calls that bypass this library.
    _Atomic bool has_watch;
} *control;
static char trace_path[PATH_MAX];
static __thread int depth __attribute__((tls_model("initial-exec")));

// MARK: The lock

// A dead owner never releases the lock: a thread that finds its owner dead takes the lock over.
static bool is_dead(uint32_t owner) { return kernel_call(SYS_tkill, owner, 0, 0, 0, 0, 0) == -ESRCH; }

void assay_trace_lock(void) {
    if (depth++ > 0) return;
    uint32_t own = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    for (unsigned turn = 1;; turn++) {
        uint32_t owner = 0;
        if (atomic_compare_exchange_strong(&control->owner, &owner, own)) return;
        if (owner == own) return;
        if (turn % 256 == 0 && is_dead(owner) && atomic_compare_exchange_strong(&control->owner, &owner, own)) return;
        struct timespec pause = {0, 20000};
        if (turn > 16) kernel_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
        else kernel_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
}

void assay_trace_unlock(void) {
    if (--depth == 0) atomic_store(&control->owner, 0);
}

// MARK: Records

static void append(struct assay_trace_record *record, const struct iovec *parts, int count) {
    record->magic = ASSAY_TRACE_MAGIC;
    record->number = atomic_fetch_add(&control->number, 1);
    record->process = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long fd = kernel_call(SYS_openat, AT_FDCWD, (long)trace_path, O_WRONLY | O_APPEND | O_CLOEXEC, 0, 0, 0);
    // The gap in the numbers reveals the missing record.
    if (fd < 0) return;
    kernel_call(SYS_writev, fd, (long)parts, count, 0, 0, 0);
    kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

// Up to this number of pieces of data are written as they are; more are first joined to one.
#define FEW_PIECES 8

static char *join(const struct iovec *data, int count, size_t bytes) {
    char *joined = assay_pages(bytes);
    size_t place = 0;
    for (int index = 0; joined && index < count && place < bytes; index++) {
        size_t length = data[index].iov_len < bytes - place ? data[index].iov_len : bytes - place;
        memcpy(joined + place, data[index].iov_base, length);
        place += length;
    }
    return joined;
}

static void put(
    struct assay_trace_record record, const char *path, const char *destination, const struct iovec *data, int count,
    size_t bytes) {
    struct iovec parts[3 + FEW_PIECES], whole;
    char *joined = NULL;
    if (count > FEW_PIECES && bytes > 0) {
        if (!(joined = join(data, count, bytes))) {
            assay_trace_unseen("there was no memory for the record of a write");
            return;
        }
        whole = (struct iovec){joined, bytes};
        data = &whole;
        count = 1;
    }
    record.path_length = path ? (uint32_t)strlen(path) : 0;
    record.destination_length = destination ? (uint32_t)strlen(destination) : 0;
    record.data_length = bytes;
    record.size = (uint32_t)(sizeof record + record.path_length + record.destination_length + bytes);
    parts[0] = (struct iovec){&record, sizeof record};
    parts[1] = (struct iovec){(void *)path, record.path_length};
    parts[2] = (struct iovec){(void *)destination, record.destination_length};
    int used = 3;
    size_t rest = bytes;
    for (int index = 0; index < count && rest > 0; index++) {
        size_t length = data[index].iov_len < rest ? data[index].iov_len : rest;
        parts[used++] = (struct iovec){data[index].iov_base, length};
        rest -= length;
    }
    append(&record, parts, used);
    assay_pages_back(joined, bytes);
}

void assay_trace_data(int kind, uint64_t inode, int64_t offset, const struct iovec *parts, int count, size_t bytes) {
    put((struct assay_trace_record){.kind = (uint16_t)kind, .inode = inode, .offset = offset}, NULL, NULL, parts, count,
        bytes);
}

static uint64_t inode_of(struct assay_target target) { return atomic_load(&assay_shared->logs[target.log].inode); }

void assay_trace_file(int kind, struct assay_target target, int64_t offset, int64_t count, bool failed) {
    put((struct assay_trace_record){
            .kind = (uint16_t)kind, .inode = inode_of(target), .offset = offset, .count = count, .failed = failed},
        NULL, NULL, NULL, 0, 0);
}

void assay_trace_name(int kind, uint64_t inode, const char *path, const char *destination, bool failed) {
    put((struct assay_trace_record){.kind = (uint16_t)kind, .inode = inode, .failed = failed}, path, destination, NULL, 0,
        0);
}

void assay_trace_made(int kind, uint64_t inode, uint32_t mode, const char *path, const char *destination) {
    put((struct assay_trace_record){.kind = (uint16_t)kind, .inode = inode, .offset = mode}, path, destination, NULL, 0,
        0);
}

void assay_trace_size(uint64_t inode, int64_t size) {
    put((struct assay_trace_record){.kind = ASSAY_TRACE_TRUNCATE, .inode = inode, .offset = size}, NULL, NULL, NULL, 0,
        0);
}

void assay_trace_unseen(const char *why) { assay_trace_name(ASSAY_TRACE_UNSEEN, 0, why, NULL, false); }

void assay_trace_past(const char *what) { assay_trace_name(ASSAY_TRACE_PAST, 0, what, NULL, false); }

// MARK: Writes and syncs

static int64_t size_of(int fd) {
    struct stat status;
    return kernel_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0 ? -1 : (int64_t)status.st_size;
}

// The offset of the written bytes: Linux appends by a descriptor with O_APPEND whatever offset the call names.
static int64_t place_of(int fd, int64_t offset, ssize_t written) {
    long flags = kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    if (flags >= 0 && flags & O_APPEND) return size_of(fd) - written;
    return offset >= 0 ? offset : kernel_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0) - written;
}

// Records bytes of a file, read by a descriptor of the program, as writes to the target. Returns the offset that it
// reached.
static int64_t note_bytes(struct assay_target target, int fd, int64_t shift, int64_t place, int64_t end) {
    static char buffer[1 << 16] __attribute__((aligned(4096)));
    while (place < end) {
        size_t wanted = (size_t)(end - place) < sizeof buffer ? (size_t)(end - place) : sizeof buffer;
        long count = kernel_call(SYS_pread64, fd, (long)buffer, (long)wanted, place + shift, 0, 0);
        if (count <= 0) break;
        struct iovec part = {buffer, (size_t)count};
        assay_trace_data(ASSAY_TRACE_WRITE, inode_of(target), place, &part, 1, (size_t)count);
        assay_trace_known(inode_of(target), place, &part, 1, (size_t)count);
        place += count;
    }
    return place;
}

// Records copied bytes: read from the target if the program has opened it for reading, else from the copy's source.
static void read_back(struct assay_target target, int fd, int64_t place, int64_t end, struct assay_source source) {
    long flags = kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    int64_t start = place;
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDWR) place = note_bytes(target, fd, 0, place, end);
    if (source.fd >= 0 && source.place >= 0) place = note_bytes(target, source.fd, source.place - start, place, end);
    if (place < end) assay_trace_unseen("what was copied inside the kernel could not be read");
}

void assay_trace_write(
    struct assay_target target, int fd, const struct iovec *parts, int count, int64_t offset, ssize_t written,
    bool is_synced, struct assay_source source) {
    if (written <= 0) return;
    int error = errno;
    if (target.kind == ASSAY_OUTPUT) {
        if (parts) assay_trace_data(ASSAY_TRACE_OUTPUT, 0, 0, parts, count, (size_t)written);
        else assay_trace_unseen("something was copied to standard output inside the kernel");
    } else if (assay_is_file(target)) {
        int64_t place = place_of(fd, offset, written);
        if (place < 0) {
            assay_trace_unseen("a write whose place in its file cannot be told");
        } else if (!parts) {
            read_back(target, fd, place, place + written, source);
        } else {
            assay_trace_data(ASSAY_TRACE_WRITE, inode_of(target), place, parts, count, (size_t)written);
            assay_trace_known(inode_of(target), place, parts, count, (size_t)written);
        }
        if (is_synced) assay_trace_file(ASSAY_TRACE_SYNC_RANGE, target, place, written, false);
    }
    errno = error;
}

void assay_trace_sync(struct assay_target target, int fd, int result) {
    int error = errno;
    if (target.kind == ASSAY_DIRECTORY) {
        char *path = assay_room();
        if (assay_descriptor_path(fd, path)) assay_trace_name(ASSAY_TRACE_SYNC_DIRECTORY, 0, path, NULL, result != 0);
        assay_room_back(path);
    } else if (assay_is_file(target)) {
        // A sync that was not attempted proves nothing.
        if (result == 0 || (error != EINTR && error != EBADF && error != EINVAL && error != EROFS))
            assay_trace_file(ASSAY_TRACE_SYNC, target, 0, 0, result != 0);
    }
    errno = error;
}

// MARK: Names

// The directory of a path, in the kernel's form; `length` is that of the path before its last name.
static bool parent_path(int directory, const char *path, size_t length, char full[]) {
    char *parent = assay_room();
    memcpy(parent, path, length);
    parent[length] = 0;
    if (length == 0) memcpy(parent, ".", 2);
    long fd = kernel_call(SYS_openat, directory, (long)parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    assay_room_back(parent);
    if (fd < 0) return false;
    bool is_known = assay_descriptor_path((int)fd, full);
    kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return is_known;
}

bool assay_trace_path(int directory, const char *path, char full[]) {
    if (!path || !*path || strlen(path) >= PATH_MAX) return false;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/') start--;
    if (!parent_path(directory, path, start, full)) return false;
    size_t end = strlen(full);
    if (end + 1 + length - start >= PATH_MAX) return false;
    // A path with this last name refers to no entry of its directory.
    size_t name = length - start;
    if ((name == 1 && path[start] == '.') || (name == 2 && memcmp(path + start, "..", 2) == 0)) return false;
    if (end > 1) full[end++] = '/';
    memcpy(full + end, path + start, name);
    full[end + name] = 0;
    return true;
}

// MARK: Start and end

bool assay_is_output(int fd) {
    struct stat status;
    if (!assay_traces() || !atomic_load(&control->has_output)) return false;
    if (kernel_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0) return false;
    return atomic_load(&control->output_device) == status.st_dev
        && atomic_load(&control->output_inode) == status.st_ino;
}

// Records the first program's standard output, before the program runs.
static void note_output(void) {
    struct stat status;
    if (atomic_load(&control->has_output) || kernel_call(SYS_fstat, 1, (long)&status, 0, 0, 0, 0) < 0) return;
    if (S_ISREG(status.st_mode)) return;
    atomic_store(&control->output_device, status.st_dev);
    atomic_store(&control->output_inode, status.st_ino);
    atomic_store(&control->has_output, true);
}

bool assay_trace_start(void) {
    const char *path = getenv("ASSAY_TRACE"), *lock = getenv("ASSAY_TRACE_LOCK");
    if (!path || !lock || path[0] != '/' || strlen(path) >= sizeof trace_path || !assay_shared) return false;
    strcpy(trace_path, path);
    long fd = kernel_call(SYS_openat, AT_FDCWD, (long)lock, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (fd < 0) return false;
    void *page = NEXT(mmap)(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    if (page == MAP_FAILED) return false;
    control = page;
    assay_trace_lock();
    note_output();
    char *name = assay_room();
    long length = kernel_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)name, PATH_MAX - 1, 0, 0);
    name[length > 0 ? length : 0] = 0;
    put((struct assay_trace_record){
            .kind = ASSAY_TRACE_START, .offset = ASSAY_TRACE_VERSION,
            .count = kernel_call(SYS_getppid, 0, 0, 0, 0, 0, 0)},
        name, NULL, NULL, 0, 0);
    assay_room_back(name);
    atomic_store(&assay_is_tracing, true);
    assay_trace_unlock();
    if (!atomic_exchange(&control->has_watch, true)) assay_watch_past();
    return true;
}

void assay_trace_end(void) {
    if (!assay_trace_begin()) return;
    assay_trace_stores();
    assay_trace_name(ASSAY_TRACE_END, 0, NULL, NULL, false);
    assay_trace_unlock();
}

__attribute__((destructor)) static void end(void) { assay_trace_end(); }
#endif
