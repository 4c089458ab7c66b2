#if defined(__linux__)
#include "state.h"
#include "calls.h"
#include "descriptors.h"
#include "failing.h"
#include "detours.h"
#include "trace.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_LIMIT 16
#define PATTERN_BYTES 1024

struct settings {
    size_t root_count;
    size_t root_length[ROOT_LIMIT];
    char roots[ROOT_LIMIT][PATH_MAX];
    char log_names[PATTERN_BYTES];
    char ignored_names[PATTERN_BYTES];
};

struct assay_shared *assay_shared;
_Atomic bool assay_is_watching;

// One version is current. Changed settings are prepared in the other, which then becomes current, so that a reading
// thread sees complete settings.
static struct settings versions[2];
static _Atomic int current;

static const char *const field_names[] = {
    "write_calls", "written_bytes", "read_calls", "read_bytes", "log_write_calls", "log_written_bytes", "sync_calls",
    "failed_sync_calls", "synced_write_calls", "range_sync_calls", "file_system_syncs", "directory_syncs", "map_syncs",
    "truncations", "allocations", "opens", "renames", "links", "unlinks", "shared_writable_maps", "unseen_calls",
    "delayed_syncs", "delayed_writes",
};
_Static_assert(sizeof field_names / sizeof field_names[0] == ASSAY_FIELD_COUNT, "a name for each field");

// MARK: Settings

static struct settings *next_version(void) {
    int used = atomic_load(&current);
    memcpy(&versions[1 - used], &versions[used], sizeof(struct settings));
    return &versions[1 - used];
}

static void publish(struct settings *settings) {
    atomic_store(&current, (int)(settings - versions));
    assay_forget_all();
    atomic_store(&assay_is_watching, assay_shared != NULL && settings->root_count > 0);
}

static void add_root(struct settings *settings, const char *path) {
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    if (length == 0 || length >= PATH_MAX || path[0] != '/' || settings->root_count == ROOT_LIMIT) return;
    size_t index = settings->root_count;
    memcpy(settings->roots[index], path, length);
    settings->roots[index][length] = 0;
    settings->root_length[index] = length;
    if (index > 0 && strcmp(settings->roots[index], settings->roots[index - 1]) == 0) return;
    settings->root_count = index + 1;
}

static void set_roots(struct settings *settings, const char *directories) {
    settings->root_count = 0;
    while (directories && *directories) {
        size_t length = strcspn(directories, ":");
        char path[PATH_MAX];
        if (length < sizeof path) {
            memcpy(path, directories, length);
            path[length] = 0;
            add_root(settings, path);
            // The kernel reports the resolved path of an open file.
            char real[PATH_MAX];
            if (path[0] == '/' && realpath(path, real)) add_root(settings, real);
        }
        directories += length + (directories[length] == ':');
    }
}

static void set_patterns(char *place, const char *patterns) {
    size_t length = patterns ? strlen(patterns) : 0;
    // A list that does not fit is dropped: cutting it could split a pattern.
    if (length >= PATTERN_BYTES) length = 0;
    memcpy(place, patterns ? patterns : "", length);
    place[length] = 0;
}

EXPORTED void assay_io_set_root(const char *directories) {
    struct settings *settings = next_version();
    set_roots(settings, directories);
    publish(settings);
}

EXPORTED void assay_io_set_log_names(const char *patterns) {
    struct settings *settings = next_version();
    set_patterns(settings->log_names, patterns);
    publish(settings);
}

EXPORTED void assay_io_set_ignored_names(const char *patterns) {
    struct settings *settings = next_version();
    set_patterns(settings->ignored_names, patterns);
    publish(settings);
}

// fnmatch is not used because it allocates in some locales.
static bool matches(const char *name, const char *pattern, const char *pattern_end) {
    const char *star = NULL, *resumed = NULL;
    while (*name) {
        if (pattern < pattern_end && *pattern == '*') {
            star = pattern++;
            resumed = name;
        } else if (pattern < pattern_end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++resumed;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*') pattern++;
    return pattern == pattern_end;
}

static bool matches_one(const char *name, const char *patterns) {
    while (*patterns) {
        size_t length = strcspn(patterns, ":");
        if (length > 0 && matches(name, patterns, patterns + length)) return true;
        patterns += length + (patterns[length] == ':');
    }
    return false;
}

bool assay_is_below_root(const char *path) {
    const struct settings *settings = &versions[atomic_load(&current)];
    for (size_t index = 0; index < settings->root_count; index++) {
        size_t length = settings->root_length[index];
        if (strncmp(path, settings->roots[index], length) == 0 && (path[length] == '/' || path[length] == 0))
            return true;
    }
    return false;
}

enum assay_role assay_role_of(const char *path) {
    if (!assay_is_below_root(path)) return ASSAY_ROLE_OUTSIDE;
    const struct settings *settings = &versions[atomic_load(&current)];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (matches_one(name, settings->ignored_names)) return ASSAY_ROLE_OUTSIDE;
    return matches_one(name, settings->log_names) ? ASSAY_ROLE_LOG : ASSAY_ROLE_DATA;
}

// MARK: Counts

EXPORTED int assay_io_version(void) { return ASSAY_IO_VERSION; }

EXPORTED size_t assay_io_field_count(void) { return ASSAY_FIELD_COUNT; }

EXPORTED const char *assay_io_field_name(size_t index) {
    return index < ASSAY_FIELD_COUNT ? field_names[index] : NULL;
}

EXPORTED void assay_io_snapshot(struct assay_io_counts *counts) {
    uint64_t values[ASSAY_FIELD_COUNT] = {0};
    for (size_t index = 0; assay_shared && index < ASSAY_FIELD_COUNT; index++)
        values[index] = atomic_load_explicit(&assay_shared->counts[index], memory_order_relaxed);
    memcpy(counts, values, sizeof *counts);
}

// MARK: Start

__attribute__((constructor)) static void start(void) {
    assay_find_all();
    void *memory = NEXT(mmap)(
        NULL, sizeof(struct assay_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    assay_shared = memory;
    struct settings *settings = next_version();
    set_roots(settings, getenv("ASSAY_IO_ROOT"));
    set_patterns(settings->log_names, getenv("ASSAY_IO_LOG_NAMES"));
    set_patterns(settings->ignored_names, getenv("ASSAY_IO_IGNORED_NAMES"));
    publish(settings);
    // After the look-up of all calls: starting faults redirects some of them to this library.
    assay_start_faults();
    // Descriptors examined before standard output was known are examined again.
    if (assay_trace_start()) {
        assay_detour();
        assay_forget_all();
    }
}
#endif
