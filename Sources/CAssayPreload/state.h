// What the library keeps: counts and files that are written to, shared with forked children, and the settings of this process.
#pragma once
#include "include/assay_preload.h"
#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define ASSAY_LOG_LIMIT 1024

// A file that is written to, by what the kernel knows it by: names change. Of two cache lines of its own.
struct assay_log {
    _Atomic uint64_t device;
    _Atomic uint64_t inode;
    // When the file was made, in nanoseconds: inode numbers are used again. 0 where the file system does not say.
    _Atomic uint64_t birth;
    // Named as a log; else a file of data, which is judged where a commit touched no log.
    _Atomic bool is_log;
    // Raised when the place is given to another file.
    _Atomic uint32_t generation;
    // Writes that have returned and need a sync, and how many of them a sync has covered.
    _Atomic uint64_t completed;
    _Atomic uint64_t covered;
    // The latest tick among the writes that have completed, and among the durable ones.
    _Atomic uint64_t completed_tick;
    _Atomic uint64_t durable_tick;
    // What the last failed sync left behind: the writes after the first number up to the second, and their last tick.
    _Atomic uint64_t lost_after;
    _Atomic uint64_t lost_through;
    _Atomic uint64_t lost_tick;
} __attribute__((aligned(128)));

#define ASSAY_FIELD_COUNT (sizeof(struct assay_io_counts) / sizeof(uint64_t))

// Lies in a shared anonymous map: children that are forked work on the same.
struct assay_shared {
    _Atomic uint64_t counts[ASSAY_FIELD_COUNT];
    // Nanoseconds; 0 for none.
    _Atomic uint64_t sync_delay;
    _Atomic uint64_t write_delay;
    // Ticks once for each write to a watched file.
    _Atomic uint64_t clock __attribute__((aligned(128)));
    // Guards the list of logs while one is added.
    _Atomic uint32_t list_lock;
    _Atomic uint32_t log_count;
    struct assay_log logs[ASSAY_LOG_LIMIT];
};

// NULL before the constructor has run, or when there was no memory: then nothing is counted.
extern struct assay_shared *assay_shared;
// False while no directory is watched: then every call is passed on at once.
extern _Atomic bool assay_is_watching;

#define ASSAY_INDEX(field) (offsetof(struct assay_io_counts, field) / sizeof(uint64_t))
#define COUNT(field, amount)                                                                                          \
    atomic_fetch_add_explicit(&assay_shared->counts[ASSAY_INDEX(field)], (amount), memory_order_relaxed)

enum assay_role { ASSAY_ROLE_OUTSIDE, ASSAY_ROLE_DATA, ASSAY_ROLE_LOG };

// What an absolute path is by the settings.
bool assay_is_below_root(const char *path);
enum assay_role assay_role_of(const char *path);

#pragma GCC visibility pop
