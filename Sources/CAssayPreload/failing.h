// Calls that are made to fail, to do half of what they were asked for, or to be the last thing that the program does.
//
// 1. Each call that may be struck is of one kind and is counted before it is passed on, by its kind and among those
//    that are aimed at. Counts and fault stand in the file that ASSAY_FAULT_STATE names, which every program that the
//    first one executes maps, too: so there is one count, whoever makes the call. Without a file they stand in memory
//    that forked children share.
// 2. A call that fails is not passed on: the kernel has done nothing. So it is with a sync, too. What a failed sync
//    leaves in the kernel (pages marked clean, so that the next sync succeeds and means nothing) shows after a power
//    cut alone; to a process that lives on it looks like this: one failure, success ever after, and the bytes still
//    there.
// 3. A death is SIGKILL to the process group of the first process that mapped the file, so that nobody lives on to
//    clean up. Where that process led no group, to the caller alone.
#pragma once
#include "calls.h"
#include "descriptors.h"

#pragma GCC visibility push(hidden)

// What a call is to a fault. The order is that of the counts in the file.
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

// 64-bit words, as they stand in the file.
struct assay_faults {
    // Set last, when all else is as it will be.
    _Atomic uint64_t magic;
    // Programs that were loaded with the library, and the process group of the first of them, if it led one.
    _Atomic uint64_t processes;
    _Atomic uint64_t group;
    // Settings that were not understood.
    _Atomic uint64_t misread;
    // The fault: kinds as bits, the call among them counted from 0, what happens, the error, and whether it goes on.
    _Atomic uint64_t kinds;
    _Atomic uint64_t number;
    _Atomic uint64_t effect;
    _Atomic uint64_t error;
    _Atomic uint64_t is_lasting;
    // Calls of these kinds, those that were struck, and the one whose turn it was and that could not be: one byte has
    // no half.
    _Atomic uint64_t matched;
    _Atomic uint64_t struck;
    _Atomic uint64_t inapplicable;
    // What no fault can strike: calls by number, shared writable maps, streams of libc that write to a file where
    // libc could not be led to us.
    _Atomic uint64_t unseen;
    _Atomic uint64_t maps;
    _Atomic uint64_t streams;
    // The kind of the first call that was struck, and one more; 0 for none.
    _Atomic uint64_t struck_kind;
    _Atomic uint64_t counts[ASSAY_FAULT_KIND_COUNT];
    // Calls that the kernel itself denied, for want of descriptors, room, memory or threads.
    _Atomic uint64_t denied;
};

// NULL while nobody asked for faults.
extern struct assay_faults *_Atomic assay_faults;

// What happens to one call.
struct assay_strike {
    // 0, or what errno becomes instead of the call.
    int error;
    bool is_short;
    bool kills_after;
};

struct assay_strike assay_strike_call(struct assay_faults *faults, enum assay_fault_kind kind, size_t size);
void assay_kill_group(void);
void assay_note_denied(int error);
// Maps the file, where there is one.
void assay_start_faults(void);
// A stream of libc that writes to a file was opened.
void assay_note_stream(void);

// Before a call of that kind to something watched. `size`: of a read or a write, how many bytes; else 0.
static inline struct assay_strike assay_strike(enum assay_fault_kind kind, size_t size) {
    struct assay_faults *faults = atomic_load_explicit(&assay_faults, memory_order_relaxed);
    if (__builtin_expect(faults == NULL, 1) || kind == ASSAY_FAULT_NONE) return (struct assay_strike){0};
    return assay_strike_call(faults, kind, size);
}

static inline bool assay_strikes(void) {
    return __builtin_expect(atomic_load_explicit(&assay_faults, memory_order_relaxed) != NULL, 0);
}

// After it.
static inline void assay_struck(struct assay_strike strike) {
    if (__builtin_expect(strike.kills_after, 0)) assay_kill_group();
}

static inline void assay_note_unstruck(_Atomic uint64_t *count) { atomic_fetch_add(count, 1); }
// The error of a call that gives it back.
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
