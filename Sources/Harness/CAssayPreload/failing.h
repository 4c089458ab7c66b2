// Fault injection: a call fails, transfers half of its bytes, or is the last one before the program is killed.
//
// 1. Each call that can be struck has one kind. Before this library passes a call on, it counts it twice: by its kind,
//    and among the calls of the fault's kinds. The counts and the fault are in the file named by ASSAY_FAULT_STATE,
//    which every program executed by the first one maps, too: so all processes share one count. Without a file they are
//    in memory that forked children share.
// 2. A failed call is not passed on: the kernel does nothing. This holds for a sync, too. After a real failed sync the
//    kernel marks the pages clean, so that the next sync succeeds without writing them; that loss shows only after a
//    power failure. A running process sees the same as here: one failure, then success, and its data intact.
// 3. A kill is SIGKILL to the process group of the first process that mapped the file, so that no process survives to
//    clean up. If that process led no group, only the caller is killed.
#pragma once
#include "calls.h"
#include "descriptors.h"

#pragma GCC visibility push(hidden)

// Kind of a call for faults, in the order of the counts in the file.
#define ASSAY_FAULT_KINDS(KIND)                                                                                       \
    KIND(WRITE, "write")                                                                                              \
    KIND(SYNC, "sync")                                                                                                \
    KIND(SYNC_DIRECTORY, "sync-directory")                                                                            \
    KIND(TRUNCATE, "truncate")                                                                                        \
    KIND(ALLOCATE, "allocate")                                                                                        \
    KIND(CREATE, "create")                                                                                            \
    KIND(OPEN, "open")                                                                                                \
    KIND(RENAME, "rename")                                                                                            \
    KIND(LINK, "link")                                                                                                \
    KIND(UNLINK, "unlink")                                                                                            \
    KIND(READ, "read")

#define ASSAY_KIND_NUMBER(name, text) ASSAY_FAULT_##name,
enum assay_fault_kind { ASSAY_FAULT_KINDS(ASSAY_KIND_NUMBER) ASSAY_FAULT_KIND_COUNT, ASSAY_FAULT_NONE };
#undef ASSAY_KIND_NUMBER

enum assay_fault_effect {
    ASSAY_EFFECT_COUNTS,
    ASSAY_EFFECT_FAILS,
    ASSAY_EFFECT_SHORT,
    ASSAY_EFFECT_KILLS_BEFORE,
    ASSAY_EFFECT_KILLS_AFTER,
};

// 64-bit words, in the order of the file.
struct assay_faults {
    // Set last, when all other fields are set.
    _Atomic uint64_t magic;
    // Number of programs loaded with the library, and the process group of the first one, if it led one.
    _Atomic uint64_t processes;
    _Atomic uint64_t group;
    // 1 if the text of ASSAY_FAULT could not be parsed.
    _Atomic uint64_t misread;
    // The fault: its kinds as bits, the index of the call to strike among the calls of these kinds, from 0, the effect,
    // the error, and whether later calls are struck, too.
    _Atomic uint64_t kinds;
    _Atomic uint64_t number;
    _Atomic uint64_t effect;
    _Atomic uint64_t error;
    _Atomic uint64_t is_lasting;
    // Number of calls of these kinds, of struck calls, and of calls that should have been struck but could not be: one
    // byte has no half.
    _Atomic uint64_t matched;
    _Atomic uint64_t struck;
    _Atomic uint64_t inapplicable;
    // Operations that no fault can strike: system calls by number, shared writable maps, and libc's streams on files if
    // libc could not be redirected.
    _Atomic uint64_t unseen;
    _Atomic uint64_t maps;
    _Atomic uint64_t streams;
    // Kind of the first struck call, plus 1; 0 for none.
    _Atomic uint64_t struck_kind;
    _Atomic uint64_t counts[ASSAY_FAULT_KIND_COUNT];
    // Number of calls that the kernel denied for want of descriptors, space, memory or threads.
    _Atomic uint64_t denied;
};

// NULL if faults are off.
extern struct assay_faults *_Atomic assay_faults;

// The effect of the fault on one call.
struct assay_strike {
    // The errno that replaces the call, or 0.
    int error;
    bool is_short;
    bool kills_after;
};

struct assay_strike assay_strike_call(struct assay_faults *faults, enum assay_fault_kind kind, size_t size);
void assay_kill_group(void);
void assay_note_denied(int error);
// Maps the file, if there is one.
void assay_start_faults(void);
// Counts a stream of libc that writes to a file.
void assay_note_stream(void);

// To be called before a call of the kind on a watched file or directory. `size`: the bytes of a read or a write; else
// 0.
static inline struct assay_strike assay_strike(enum assay_fault_kind kind, size_t size) {
    struct assay_faults *faults = atomic_load_explicit(&assay_faults, memory_order_relaxed);
    if (__builtin_expect(faults == NULL, 1) || kind == ASSAY_FAULT_NONE) return (struct assay_strike){0};
    return assay_strike_call(faults, kind, size);
}

static inline bool assay_strikes(void) {
    return __builtin_expect(atomic_load_explicit(&assay_faults, memory_order_relaxed) != NULL, 0);
}

// To be called after the call that the strike applies to.
static inline void assay_struck(struct assay_strike strike) {
    if (__builtin_expect(strike.kills_after, 0)) assay_kill_group();
}

static inline void assay_note_unstruck(_Atomic uint64_t *count) { atomic_fetch_add(count, 1); }
// Counts and returns the error of a call that returns its error.
static inline int assay_denied(int error) {
    if (__builtin_expect(error != 0, 0)) assay_note_denied(error);
    return error;
}

#define ASSAY_UNSTRUCK(field)                                                                                         \
    do {                                                                                                              \
        struct assay_faults *faults = atomic_load_explicit(&assay_faults, memory_order_relaxed);                      \
        if (__builtin_expect(faults != NULL, 0)) assay_note_unstruck(&faults->field);                                 \
    } while (0)

#pragma GCC visibility pop
