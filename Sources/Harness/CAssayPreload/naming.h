// Changes of names, for the trace. This library looks the names up before the call, while the old ones still resolve,
// and records the change after the call, if it succeeded.
#pragma once
#include "room.h"
#include "trace.h"

#pragma GCC visibility push(hidden)

struct assay_naming {
    bool is_held;
    int kind;
    // Whether the entry is a directory; whether either name is one of a watched file.
    bool is_directory;
    bool is_watched;
    bool is_destination_watched;
    bool is_exchange;
    // The names in the kernel's form, in buffers that are given back with the trace's lock.
    char *path;
    char *destination;
};

void assay_naming_start(
    struct assay_naming *naming, int kind, int from, const char *path, int to, const char *destination);
void assay_naming_record(struct assay_naming *naming, int result);

// `destination`: NULL if there is only one name.
static inline void assay_naming_begin(
    struct assay_naming *naming, int kind, int from, const char *path, int to, const char *destination) {
    naming->is_held = assay_trace_begin();
    naming->is_exchange = false;
    if (__builtin_expect(naming->is_held, 0)) assay_naming_start(naming, kind, from, path, to, destination);
}

static inline void assay_naming_end(struct assay_naming *naming, int result) {
    if (__builtin_expect(!naming->is_held, 1)) return;
    assay_naming_record(naming, result);
    assay_room_back(naming->path);
    assay_room_back(naming->destination);
    assay_trace_unlock();
}

// An open that may create or truncate a file, and what was at its path before.
struct assay_opening {
    bool is_held;
    bool existed;
    bool had_bytes;
};

struct assay_opening assay_opening_begin(int directory, const char *path, int flags);
void assay_opening_end(const struct assay_opening *opening, int flags, int fd);

#pragma GCC visibility pop
