// A program that makes given file calls, so that a test knows exactly what the library must count.
#pragma once
#include "../../Sources/Harness/CAssayPreload/include/assay_preload.h"
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

// One call of that name on a descriptor. Returns the call's result, or -2 for an unknown name.
long call_by_name(const char *name, int fd, long argument);

// Several threads in a group commit, step by step. Each prints its answer.
void run_group(const char *name);
// `count` threads of `writes` writes each, on one descriptor.
void run_threads(int fd, int count, int writes);
