// Classification of descriptors.
//
// 1. A descriptor is unknown until a watched call uses it. Then its type, path and flags are read from the kernel, and
//    the result is cached until the descriptor is closed or reused. So descriptors that were opened by libc itself,
//    inherited, or received through a socket are treated like any other.
// 2. A call that may reuse a descriptor resets it to unknown. That is always safe, and costs one query.
// 3. The table is per process; a forked child gets a copy, as of the descriptors.
#pragma once
#include "state.h"

#pragma GCC visibility push(hidden)

enum assay_kind {
    ASSAY_UNKNOWN,
    ASSAY_OUTSIDE,
    ASSAY_DATA,
    ASSAY_LOG,
    ASSAY_DIRECTORY,
    // The first program's standard output, if a trace records it.
    ASSAY_OUTPUT,
};

struct assay_target {
    enum assay_kind kind;
    // Opened with O_DSYNC or O_SYNC.
    bool is_synced;
    // For a file: its index among the written files.
    uint32_t log;
};

// Descriptors from this number on are not cached: each call queries the kernel.
#define ASSAY_DESCRIPTOR_LIMIT (1 << 20)

// Kind in bits 0 to 2, synced in bit 3, the file's generation in bits 4 to 15, the file in bits 16 to 31.
extern _Atomic uint32_t assay_descriptors[ASSAY_DESCRIPTOR_LIMIT];

uint32_t assay_ask(int fd);

static inline bool assay_is_current(uint32_t entry) {
    if ((entry & 7) != ASSAY_LOG && (entry & 7) != ASSAY_DATA) return (entry & 7) != ASSAY_UNKNOWN;
    uint32_t generation = atomic_load_explicit(&assay_shared->logs[entry >> 16].generation, memory_order_relaxed);
    return (generation & 0xFFF) == (entry >> 4 & 0xFFF);
}

static inline struct assay_target assay_target_of(int fd) {
    if (!atomic_load_explicit(&assay_is_watching, memory_order_relaxed) || fd < 0)
        return (struct assay_target){.kind = ASSAY_OUTSIDE};
    uint32_t entry = fd < ASSAY_DESCRIPTOR_LIMIT
        ? atomic_load_explicit(&assay_descriptors[fd], memory_order_relaxed)
        : ASSAY_UNKNOWN;
    if (__builtin_expect(!assay_is_current(entry), 0)) entry = assay_ask(fd);
    return (struct assay_target){
        .kind = (enum assay_kind)(entry & 7), .is_synced = entry >> 3 & 1, .log = entry >> 16};
}

static inline bool assay_is_file(struct assay_target target) {
    return target.kind == ASSAY_DATA || target.kind == ASSAY_LOG;
}

// To be called when the number of the descriptor may be reused.
static inline void assay_forget(int fd) {
    if (fd >= 0 && fd < ASSAY_DESCRIPTOR_LIMIT
        && atomic_load_explicit(&assay_descriptors[fd], memory_order_relaxed) != ASSAY_UNKNOWN)
        atomic_store_explicit(&assay_descriptors[fd], ASSAY_UNKNOWN, memory_order_relaxed);
}

void assay_forget_range(unsigned first, unsigned last);
void assay_forget_all(void);

// Path of a descriptor. False if the kernel does not tell.
bool assay_descriptor_path(int fd, char path[]);

// Whether a path, relative to a directory as in the call, is below a watched directory. Compares the path's text: links
// inside it are not resolved.
bool assay_is_path_below_root(int directory, const char *path);

#pragma GCC visibility pop
