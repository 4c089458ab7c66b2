// State of the library: counts and written files, shared with forked children, and the settings of this process.
#pragma once
#include "include/assay_preload.h"
#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define ASSAY_LOG_LIMIT 1024

// A written file, identified as the kernel does, since its name may change. It has two cache lines of its own.
struct assay_log {
    _Atomic uint64_t device;
    _Atomic uint64_t inode;
    // Creation time of the file in nanoseconds: inode numbers are reused. 0 if the file system does not tell.
    _Atomic uint64_t birth;
    // Whether its name matches the logs' patterns. Else it is a data file, which is judged if a commit touched no log.
    _Atomic bool is_log;
    // Raised when the entry is reused for another file.
    _Atomic uint32_t generation;
    // Writes that have returned and need a sync, and how many of them a sync has covered.
    _Atomic uint64_t completed;
    _Atomic uint64_t covered;
    // The latest tick of the completed writes, and of the durable ones.
    _Atomic uint64_t completed_tick;
    _Atomic uint64_t durable_tick;
    // The writes that the last failed sync lost: those with a number above the first and up to the second; and the tick
    // of the last one.
    _Atomic uint64_t lost_after;
    _Atomic uint64_t lost_through;
    _Atomic uint64_t lost_tick;
} __attribute__((aligned(128)));

#define ASSAY_FIELD_COUNT (sizeof(struct assay_io_counts) / sizeof(uint64_t))

// In a shared anonymous map: forked children use the same one.
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

// NULL before the constructor has run, or if there was no memory: nothing is counted then.
extern struct assay_shared *assay_shared;
// False if no directory is watched: every call is passed on at once.
extern _Atomic bool assay_is_watching;

#define ASSAY_INDEX(field) (offsetof(struct assay_io_counts, field) / sizeof(uint64_t))
#define COUNT(field, amount)                                                                                          \
    atomic_fetch_add_explicit(&assay_shared->counts[ASSAY_INDEX(field)], (amount), memory_order_relaxed)

enum assay_role { ASSAY_ROLE_OUTSIDE, ASSAY_ROLE_DATA, ASSAY_ROLE_LOG };

// Classification of an absolute path by the settings.
bool assay_is_below_root(const char *path);
enum assay_role assay_role_of(const char *path);

#pragma GCC visibility pop
