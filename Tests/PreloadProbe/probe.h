// A program that makes file calls as it is told, so that a test knows exactly what there was to be seen.
#pragma once
#include "../../Sources/CAssayPreload/include/assay_preload.h"
#include <stdbool.h>
#include <stdio.h>

// The functions of the preloaded library. Without it, NULL.
struct preload {
    void (*set_root)(const char *);
    void (*set_log_names)(const char *);
    void (*snapshot)(struct assay_io_counts *);
    const char *(*field_name)(size_t);
    void (*set_delays)(uint64_t, uint64_t);
    void (*begin)(struct assay_commit *);
    int (*end)(struct assay_commit *);
    int (*own)(void);
    int (*set_fault)(const char *);
    unsigned long long (*fault_count)(const char *);
};
extern struct preload preload;

// Ends the program with a message when `holds` is false.
void need(bool holds, const char *what);

// One call of that name on a descriptor. Returns what the call returned, or -2 when there is none of that name.
long call_by_name(const char *name, int fd, long argument);

// Several threads that commit together, one step after the other. Each prints its answer.
void run_group(const char *name);
// `count` threads of `writes` writes each, on one descriptor.
void run_threads(int fd, int count, int writes);
