// The one place that knows what a descriptor is.
//
// 1. Nothing is known of a number until a watched call uses it: then the kernel is asked (its type, its path, its
//    flags), and the answer is kept until the number is closed or given away again. So descriptors that libc opened for
//    itself, that were inherited, or that came through a socket are known like any other.
// 2. Whatever may give a number to another file makes it unknown. That is always right, and costs one question.
// 3. The table belongs to the process, and a forked child has a copy, as it has of the descriptors.
#pragma once
#include "state.h"

#pragma GCC visibility push(hidden)

enum assay_kind {
    ASSAY_UNKNOWN,
    ASSAY_OUTSIDE,
    ASSAY_DATA,
    ASSAY_LOG,
    ASSAY_DIRECTORY,
    // What a trace takes for the program's standard output.
    ASSAY_OUTPUT,
};

struct assay_target {
    enum assay_kind kind;
    // Opened with O_DSYNC or O_SYNC.
    bool is_synced;
    // Of a file: its place among those that are written to.
    uint32_t log;
};

// Numbers above are asked for anew by each call.
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

// The number may mean something else from now on.
static inline void assay_forget(int fd) {
    if (fd >= 0 && fd < ASSAY_DESCRIPTOR_LIMIT
        && atomic_load_explicit(&assay_descriptors[fd], memory_order_relaxed) != ASSAY_UNKNOWN)
        atomic_store_explicit(&assay_descriptors[fd], ASSAY_UNKNOWN, memory_order_relaxed);
}

void assay_forget_range(unsigned first, unsigned last);
void assay_forget_all(void);

// Where a descriptor leads, by its path. False when the kernel does not say.
bool assay_descriptor_path(int fd, char path[]);

// Whether a path, as a call would take it with that directory, leads below a watched directory. By the words of the
// path: links in the middle of it are not followed.
bool assay_is_path_below_root(int directory, const char *path);

#pragma GCC visibility pop
