// The trace: every operation that can change the disk, and every byte that the program printed, in the order in which
// they happened. ASSAY_TRACE names the trace's file, ASSAY_TRACE_LOCK a file of at least a page for its lock.
//
// 1. A lock in memory shared by all processes of the program is held across a call and its record. So the order of the
//    records is the order of the calls, across threads, forks and executed programs.
// 2. A record is appended whole by one write, by a descriptor that is opened for it alone: programs close descriptors
//    that they do not know.
// 3. An operation that cannot be represented is recorded as text: a reader of the trace then gives no verdict.
// 4. A process that dies between a call and its record leaves files that differ from the trace. Replaying the trace
//    detects that.
#pragma once
#include "calls.h"
#include "descriptors.h"
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Raised when a record's form or meaning changes; Sources/Harness/ProgramTrials/Recording/TraceFile.swift reads it.
#define ASSAY_TRACE_VERSION 2
#define ASSAY_TRACE_MAGIC 0x41594153u

enum assay_trace_kind {
    ASSAY_TRACE_START = 1,      // of a program: its version in `offset`, its parent in `count`, its name in `path`
    ASSAY_TRACE_END,
    ASSAY_TRACE_CREATE,         // the mode in `offset`, as in MAKE_DIRECTORY
    ASSAY_TRACE_WRITE,
    ASSAY_TRACE_TRUNCATE,       // the size in `offset`, as in PREALLOCATE
    ASSAY_TRACE_PREALLOCATE,
    ASSAY_TRACE_RENAME,
    ASSAY_TRACE_LINK,           // a further name in `path`
    ASSAY_TRACE_UNLINK,
    ASSAY_TRACE_MAKE_DIRECTORY,
    ASSAY_TRACE_REMOVE_DIRECTORY,
    ASSAY_TRACE_SYNC,
    ASSAY_TRACE_SYNC_DIRECTORY,
    ASSAY_TRACE_SYNC_RANGE,
    ASSAY_TRACE_SYNC_ALL,
    ASSAY_TRACE_WRITE_BACK,
    ASSAY_TRACE_OUTPUT,         // printed on the standard output that the first program had
    ASSAY_TRACE_UNSEEN,         // what happened and is not understood, in `path`
    ASSAY_TRACE_PAST,           // what happened and was not seen, in `path`
    ASSAY_TRACE_MODE,           // a new mode in `offset`, and the path; the inode is 0 for a directory
    ASSAY_TRACE_NODE,           // a link, FIFO or socket: its mode in `offset`, a link's target as destination
};

// Little-endian; the texts and the bytes follow in this order.
struct assay_trace_record {
    uint32_t magic;
    uint32_t size;              // of the record, with the texts and the bytes
    uint64_t number;            // from 0, without gaps
    uint32_t process;
    uint16_t kind;
    uint16_t failed;
    uint64_t inode;
    int64_t offset;
    int64_t count;
    uint32_t path_length;
    uint32_t destination_length;
    uint64_t data_length;
};

extern _Atomic bool assay_is_tracing;

void assay_trace_lock(void);
void assay_trace_unlock(void);

// Starts the trace that the environment requests; false if it requests none.
bool assay_trace_start(void);
void assay_trace_end(void);
bool assay_is_output(int fd);

// The caller holds the lock. These functions keep errno.
void assay_trace_data(int kind, uint64_t inode, int64_t offset, const struct iovec *parts, int count, size_t bytes);
void assay_trace_file(int kind, struct assay_target target, int64_t offset, int64_t count, bool failed);
void assay_trace_name(int kind, uint64_t inode, const char *path, const char *destination, bool failed);
// Records a new file or directory, or a new mode of one.
void assay_trace_made(int kind, uint64_t inode, uint32_t mode, const char *path, const char *destination);
void assay_trace_size(uint64_t inode, int64_t size);
void assay_trace_unseen(const char *why);
void assay_trace_past(const char *what);

// The source of a copy inside the kernel: a descriptor of the program, and the offset in its file.
struct assay_source {
    int fd;
    int64_t place;
};

// Records a write that has returned. `offset` -1: at the descriptor's own offset. `parts` NULL: the bytes are read back
// by the program's descriptors, since closing one of this library's own would release the program's locks.
void assay_trace_write(
    struct assay_target target, int fd, const struct iovec *parts, int count, int64_t offset, ssize_t written,
    bool is_synced, struct assay_source source);
// Records a sync of a file or a directory that has returned.
void assay_trace_sync(struct assay_target target, int fd, int result);

// The path in the kernel's form, links in its directories resolved and the last name unchanged. False if unknown.
bool assay_trace_path(int directory, const char *path, char full[]);

// Shared maps of files. This library compares a writable one with its last known contents, and records what the program
// has stored through it as writes.
void assay_trace_map(void *base, size_t length, int64_t offset, int fd, struct assay_target target, bool is_written);
void assay_trace_maps_written(void *address, size_t length);
void assay_trace_unmap(void *address, size_t length);
// To be called before a map is moved or resized, and after it.
void assay_trace_moves(void *address);
void assay_trace_moved(void *address, size_t length, void *base, size_t wanted);
void assay_trace_stores(void);
void assay_trace_msync(void *address, size_t length, bool waits, int result);
void assay_trace_known(uint64_t inode, int64_t offset, const struct iovec *parts, int count, size_t bytes);

static inline bool assay_traces(void) { return atomic_load_explicit(&assay_is_tracing, memory_order_relaxed); }

// Between begin and finish no operation of another thread happens. Begin returns false, without the lock, if there is
// no trace.
static inline bool assay_trace_begin(void) {
    if (!assay_traces()) return false;
    assay_trace_lock();
    return true;
}

static inline void assay_trace_finish(bool is_held) {
    if (is_held) assay_trace_unlock();
}

#pragma GCC visibility pop
