// Functions that count each call and pass it on to glibc's allocator. The harness does not use another allocator that
// counts by itself: with jemalloc, SQLite's point reads took 15 to 20 % longer than in an ordinary program, and the
// harness would have measured an allocator that the users of an engine do not have.
//
// The dynamic linker finds these functions before those of libc, for every library of the process.
#include "CAllocations.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(IS_SANITIZED)

#include <errno.h>
#include <features.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#ifdef __GLIBC__

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/// The counter of one thread. When the thread ends, another one takes the counter and counts on: the sum over all
/// counters is the count of the process. Each has a cache line of its own, so that threads do not slow each other.
typedef struct counts {
    _Atomic uint64_t calls;
    atomic_bool is_taken;
    struct counts *next;
} __attribute__((aligned(64))) counts;

enum { first_counts = 64, more_counts = 64 };

static counts first[first_counts];
/// Counters that `find` made when all others were taken. They are never freed.
static counts *_Atomic more;
/// Calls of threads without a counter: `end` has given theirs back, or `find` got no memory for one.
static _Atomic uint64_t without_counts;
static pthread_key_t key;
static atomic_bool has_key;

static _Thread_local counts *own;
static _Thread_local uint64_t own_bytes;
static _Thread_local int has_ended;

static void end(void *taken) {
    own = NULL;
    has_ended = 1;
    atomic_store_explicit(&((counts *)taken)->is_taken, 0, memory_order_release);
}

__attribute__((constructor)) static void make_key(void) {
    if (pthread_key_create(&key, end) == 0) atomic_store(&has_key, 1);
}

static int take(counts *candidate) {
    if (atomic_load_explicit(&candidate->is_taken, memory_order_relaxed)) return 0;
    return !atomic_exchange_explicit(&candidate->is_taken, 1, memory_order_acquire);
}

/// Takes a free counter. It uses no lock: a child that is forked while another thread holds it would wait for ever.
static counts *find(void) {
    for (int place = 0; place < first_counts; place++) {
        if (take(&first[place])) return &first[place];
    }
    for (counts *place = atomic_load(&more); place != NULL; place = place->next) {
        if (take(place)) return place;
    }
    counts *made = mmap(NULL, more_counts * sizeof(counts), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return NULL;
    made[0].is_taken = 1;
    for (int place = 0; place + 1 < more_counts; place++) made[place].next = &made[place + 1];
    counts *last = &made[more_counts - 1], *before = atomic_load(&more);
    do {
        last->next = before;
    } while (!atomic_compare_exchange_weak(&more, &before, made));
    return made;
}

/// Counts a call of a thread that has no counter: its first call, or a call after `end`.
static __attribute__((noinline)) void count_slowly(void) {
    if (!has_ended && (own = find()) != NULL) {
        // Calls no allocator: glibc stores the values of a process's first 32 keys in the thread itself.
        if (atomic_load(&has_key)) pthread_setspecific(key, own);
        atomic_store_explicit(
            &own->calls, atomic_load_explicit(&own->calls, memory_order_relaxed) + 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&without_counts, 1, memory_order_relaxed);
}

static inline void count(size_t bytes) {
    own_bytes += bytes;
    counts *mine = own;
    if (__builtin_expect(mine == NULL, 0)) {
        count_slowly();
        return;
    }
    // Only this thread writes its counter, so that it needs no atomic addition.
    atomic_store_explicit(
        &mine->calls, atomic_load_explicit(&mine->calls, memory_order_relaxed) + 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    count(size);
    void *made = __libc_memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *memory = made;
    return 0;
}

int assay_allocations_are_counted(void) { return 1; }

uint64_t assay_allocations(void) {
    uint64_t sum = atomic_load_explicit(&without_counts, memory_order_relaxed);
    for (int place = 0; place < first_counts; place++) {
        sum += atomic_load_explicit(&first[place].calls, memory_order_relaxed);
    }
    for (counts *place = atomic_load(&more); place != NULL; place = place->next) {
        sum += atomic_load_explicit(&place->calls, memory_order_relaxed);
    }
    return sum;
}

uint64_t assay_allocated_bytes(void) { return own_bytes; }

void assay_map_large_blocks(void) { mallopt(M_MMAP_THRESHOLD, 128 << 10); }

#define COUNTS 1
#endif
#endif

#ifndef COUNTS

int assay_allocations_are_counted(void) { return 0; }

uint64_t assay_allocations(void) { return 0; }

uint64_t assay_allocated_bytes(void) { return 0; }

void assay_map_large_blocks(void) {}

#endif
