#if defined(__linux__)
#include "failing.h"
#include "detours.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct assay_faults *_Atomic assay_faults;
// Whether libc's own writes reach this library.
static bool sees_streams;

// The bytes ASSAYFL1; the last one is the version of the layout.
#define MAGIC 0x314c465941535341u

static const char *const kind_names[ASSAY_FAULT_KIND_COUNT] = {
#define ASSAY_KIND_NAME(name, text) text,
    ASSAY_FAULT_KINDS(ASSAY_KIND_NAME)
#undef ASSAY_KIND_NAME
};

#define BIT(name) (1u << ASSAY_FAULT_##name)
#define CHANGES                                                                                                       \
    (BIT(WRITE) | BIT(SYNC) | BIT(SYNC_DIRECTORY) | BIT(TRUNCATE) | BIT(ALLOCATE) | BIT(CREATE) | BIT(RENAME)         \
     | BIT(LINK) | BIT(UNLINK))
// A lack of space may be reported as late as by a sync.
#define TAKES_SPACE                                                                                                   \
    (BIT(WRITE) | BIT(SYNC) | BIT(TRUNCATE) | BIT(ALLOCATE) | BIT(CREATE) | BIT(RENAME) | BIT(LINK))

// MARK: Parsing the fault

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

// The kinds of `write+sync`, or of the names of sets; 0 if unknown.
static uint64_t kinds_of(const char *text, size_t length) {
    uint64_t kinds = 0;
    for (size_t start = 0; start <= length;) {
        size_t end = start;
        while (end < length && text[end] != '+') end++;
        uint64_t found = 0;
        if (is_word(text + start, end - start, "change")) found = CHANGES;
        if (is_word(text + start, end - start, "space")) found = TAKES_SPACE;
        for (int kind = 0; kind < ASSAY_FAULT_KIND_COUNT; kind++) {
            if (is_word(text + start, end - start, kind_names[kind])) found = 1u << kind;
        }
        if (!found) return 0;
        kinds |= found;
        start = end + 1;
    }
    return kinds;
}

struct fault {
    uint64_t kinds, number, effect, error, is_lasting;
};

static bool read_effect(struct fault *fault, const char *text, size_t length) {
    static const struct {
        const char *word;
        enum assay_fault_effect effect;
        int error;
    } effects[] = {
        {"none", ASSAY_EFFECT_COUNTS, 0},          {"EIO", ASSAY_EFFECT_FAILS, EIO},
        {"ENOSPC", ASSAY_EFFECT_FAILS, ENOSPC},    {"EDQUOT", ASSAY_EFFECT_FAILS, EDQUOT},
        {"short", ASSAY_EFFECT_SHORT, ENOSPC},     {"kill-before", ASSAY_EFFECT_KILLS_BEFORE, 0},
        {"kill-after", ASSAY_EFFECT_KILLS_AFTER, 0},
    };
    for (size_t index = 0; index < sizeof effects / sizeof effects[0]; index++) {
        if (!is_word(text, length, effects[index].word)) continue;
        fault->effect = effects[index].effect;
        fault->error = (uint64_t)effects[index].error;
        return true;
    }
    return false;
}

// KINDS#N,EFFECT[,for-good]
static bool read_fault(struct fault *fault, const char *text) {
    size_t length = strcspn(text, "#");
    if (!text[length] || !(fault->kinds = kinds_of(text, length))) return false;
    text += length + 1;
    if (*text < '0' || *text > '9') return false;
    char *rest;
    errno = 0;
    fault->number = strtoull(text, &rest, 10);
    if (errno != 0 || *rest++ != ',') return false;
    length = strcspn(rest, ",");
    if (!read_effect(fault, rest, length)) return false;
    fault->is_lasting = rest[length] == ',';
    return !rest[length] || strcmp(rest + length, ",for-good") == 0;
}

static void apply(struct assay_faults *faults, const struct fault *fault) {
    // Disarm the fault first, so that no thread sees it half written.
    atomic_store(&faults->kinds, 0);
    atomic_store(&faults->number, fault->number);
    atomic_store(&faults->effect, fault->effect);
    atomic_store(&faults->error, fault->error);
    atomic_store(&faults->is_lasting, fault->is_lasting);
    atomic_store(&faults->matched, 0);
    atomic_store(&faults->struck, 0);
    atomic_store(&faults->struck_kind, 0);
    atomic_store(&faults->inapplicable, 0);
    atomic_store(&faults->kinds, fault->kinds);
}

// MARK: Calls

void assay_kill_group(void) {
    struct assay_faults *faults = atomic_load(&assay_faults);
    pid_t group = faults ? (pid_t)atomic_load(&faults->group) : 0;
    if (group > 1) kill(-group, SIGKILL);
    kill(getpid(), SIGKILL);
}

// Whether the fault strikes this call. `is_later`: the call comes after the first one that the fault strikes.
static bool is_aimed_at(struct assay_faults *faults, enum assay_fault_kind kind, bool *is_later) {
    uint64_t kinds = atomic_load(&faults->kinds);
    if (!(kinds >> kind & 1)) return false;
    uint64_t index = atomic_fetch_add(&faults->matched, 1), number = atomic_load(&faults->number);
    *is_later = index > number;
    return index == number || (*is_later && atomic_load(&faults->is_lasting));
}

static void note_struck(struct assay_faults *faults, enum assay_fault_kind kind) {
    uint64_t none = 0;
    atomic_compare_exchange_strong(&faults->struck_kind, &none, (uint64_t)kind + 1);
    atomic_fetch_add(&faults->struck, 1);
}

struct assay_strike assay_strike_call(struct assay_faults *faults, enum assay_fault_kind kind, size_t size) {
    struct assay_strike strike = {0};
    bool is_later = false;
    atomic_fetch_add(&faults->counts[kind], 1);
    if (!is_aimed_at(faults, kind, &is_later)) return strike;
    switch ((enum assay_fault_effect)atomic_load(&faults->effect)) {
    case ASSAY_EFFECT_COUNTS:
        return strike;
    case ASSAY_EFFECT_FAILS:
        strike.error = (int)atomic_load(&faults->error);
        break;
    case ASSAY_EFFECT_SHORT:
        // A disk that ran full in the middle of a write has no space for the next one.
        if (is_later && kind != ASSAY_FAULT_READ) strike.error = (int)atomic_load(&faults->error);
        else if (size > 1) strike.is_short = true;
        break;
    case ASSAY_EFFECT_KILLS_BEFORE:
        note_struck(faults, kind);
        assay_kill_group();
        return strike;
    case ASSAY_EFFECT_KILLS_AFTER:
        strike.kills_after = true;
        break;
    }
    if (strike.error || strike.is_short || strike.kills_after) note_struck(faults, kind);
    else if (!is_later) atomic_fetch_add(&faults->inapplicable, 1);
    return strike;
}

// MARK: Errors of the kernel

void assay_note_denied(int error) {
    struct assay_faults *faults = atomic_load(&assay_faults);
    if (!faults) return;
    switch (error) {
    case EMFILE:
    case ENFILE:
    case EFBIG:
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
        atomic_fetch_add(&faults->denied, 1);
        break;
    default:
        break;
    }
}

// MARK: Start

static struct assay_faults *map_memory(int fd) {
    int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void *memory = NEXT(mmap)(NULL, sizeof(struct assay_faults), PROT_READ | PROT_WRITE, flags, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

// Maps the file that the trial made. Never creates it, so that a program that outlives its trial leaves no file behind.
static struct assay_faults *map_file(const char *path) {
    int fd = NEXT(open)(path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return NULL;
    struct stat status;
    struct assay_faults *faults = NULL;
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(struct assay_faults)) faults = map_memory(fd);
    NEXT(close)(fd);
    return faults;
}

// Called before `main` of each program. Only the first program sets the fault and the process group.
void assay_start_faults(void) {
    const char *path = getenv("ASSAY_FAULT_STATE"), *words = getenv("ASSAY_FAULT");
    if (!path && !words) return;
    struct assay_faults *faults = path ? map_file(path) : map_memory(-1);
    if (!faults) return;
    // Set before any other field: a process that is killed from here on must not leave a file without its version.
    atomic_store(&faults->magic, MAGIC);
    if (atomic_fetch_add(&faults->processes, 1) == 0) {
        struct fault fault = {0};
        if (words && *words) {
            if (read_fault(&fault, words)) apply(faults, &fault);
            else atomic_store(&faults->misread, 1);
        }
        if (getpgrp() == getpid()) atomic_store(&faults->group, (uint64_t)getpid());
    }
    sees_streams = assay_detour();
    atomic_store(&assay_faults, faults);
}

void assay_note_stream(void) {
    struct assay_faults *faults = atomic_load(&assay_faults);
    if (faults && !sees_streams) atomic_fetch_add(&faults->streams, 1);
}

EXPORTED int assay_io_set_fault(const char *words) {
    struct fault fault = {0};
    if (words && *words && !read_fault(&fault, words)) return -1;
    struct assay_faults *faults = atomic_load(&assay_faults);
    if (!faults) {
        if (!(faults = map_memory(-1))) return -1;
        atomic_store(&faults->magic, MAGIC);
        atomic_store(&assay_faults, faults);
    }
    apply(faults, &fault);
    return 0;
}

EXPORTED unsigned long long assay_io_fault_count(const char *kind) {
    struct assay_faults *faults = atomic_load(&assay_faults);
    if (!faults || !kind) return 0;
    const struct {
        const char *name;
        _Atomic uint64_t *count;
    } others[] = {
        {"struck", &faults->struck},   {"inapplicable", &faults->inapplicable}, {"unseen", &faults->unseen},
        {"maps", &faults->maps},       {"streams", &faults->streams},
        {"denied", &faults->denied},
    };
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++) {
        if (strcmp(kind, others[index].name) == 0) return atomic_load(others[index].count);
    }
    for (int index = 0; index < ASSAY_FAULT_KIND_COUNT; index++) {
        if (strcmp(kind, kind_names[index]) == 0) return atomic_load(&faults->counts[index]);
    }
    return 0;
}
#endif
