#include "CStrataShim.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Invariants
// 1. A thread claims an entry by `used`, fills it in, and makes it valid with the store to `length`. The signal handler
//    reads only base and length, so it needs no lock and may run at any moment on any thread.
// 2. Blocks of entries are only added, never moved or freed.
// 3. The handler passes a signal outside the watched ranges, and (tested on Linux) one that a process sent, to the
//    previous handler.

enum { entries_per_block = 256 };

struct entry {
    atomic_uintptr_t base;
    atomic_size_t length;
    atomic_uint used;
    strata_damage damage;
};

struct block {
    struct entry entries[entries_per_block];
    _Atomic(struct block *) next;
};

static struct block first_block;
static struct sigaction previous;
static long page_size;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int mend(uintptr_t address) {
    for (struct block *block = &first_block; block; block = atomic_load(&block->next)) {
        for (int i = 0; i < entries_per_block; i++) {
            struct entry *entry = &block->entries[i];
            size_t length = atomic_load(&entry->length);
            uintptr_t base = atomic_load(&entry->base);
            if (length == 0 || address < base || address - base >= length) continue;
            void *page = (void *)(address & ~(uintptr_t)(page_size - 1));
            int flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
            if (mmap(page, (size_t)page_size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) return 0;
            atomic_store((_Atomic uint64_t *)&entry->damage.offset, (uint64_t)(address - base));
            atomic_store((_Atomic uint32_t *)&entry->damage.happened, 1u);
            return 1;
        }
    }
    return 0;
}

// Whether a process sent the signal. Then its information holds a process in the place of an address.
static int is_sent(const siginfo_t *information) {
    int code = information->si_code;
    return code <= 0 || code == SI_USER || code == SI_QUEUE;
}

static void handle(int number, siginfo_t *information, void *context) {
    int sent = is_sent(information);
    if (!sent && mend((uintptr_t)information->si_addr)) return;
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, information, context);
    } else if (previous.sa_handler == SIG_IGN && sent) {
        return;
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        // The default action ends the process when the handler returns: the thread then repeats its access, or receives
        // the signal that was sent once more.
        signal(number, SIG_DFL);
        if (sent) raise(number);
    } else {
        previous.sa_handler(number);
    }
}

static void install(void) {
    page_size = sysconf(_SC_PAGESIZE);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

strata_damage *strata_watch(const void *base, size_t length) {
    pthread_once(&once, install);
    struct block *block = &first_block;
    while (1) {
        for (int i = 0; i < entries_per_block; i++) {
            struct entry *entry = &block->entries[i];
            unsigned expected = 0;
            if (!atomic_compare_exchange_strong(&entry->used, &expected, 1u)) continue;
            memset(&entry->damage, 0, sizeof entry->damage);
            atomic_store(&entry->base, (uintptr_t)base);
            atomic_store(&entry->length, length);
            return &entry->damage;
        }
        struct block *next = atomic_load(&block->next);
        if (next == NULL) {
            // Not from the heap: the caller may hold forks (fork.c, invariant 4).
            struct block *made = strata_take_memory(sizeof *made);
            if (made == NULL) return NULL;
            if (atomic_compare_exchange_strong(&block->next, &next, made)) {
                next = made;
            } else {
                munmap(made, sizeof *made);
            }
        }
        block = next;
    }
}

void strata_unwatch(strata_damage *damage) {
    struct entry *entry = (struct entry *)((char *)damage - offsetof(struct entry, damage));
    atomic_store(&entry->length, (size_t)0);
    atomic_store(&entry->base, (uintptr_t)0);
    atomic_store(&entry->used, 0u);
}

void strata_forget_maps(void) {
    for (struct block *block = &first_block; block; block = atomic_load(&block->next)) {
        for (int i = 0; i < entries_per_block; i++) {
            struct entry *entry = &block->entries[i];
            size_t length = atomic_load(&entry->length);
            if (length == 0) continue;
            void *base = (void *)atomic_load(&entry->base);
            int flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
            flags |= MAP_NORESERVE;
#endif
            if (mmap(base, length, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
                mmap(base, length, PROT_READ, flags, -1, 0);
            }
            atomic_store((_Atomic uint64_t *)&entry->damage.offset, (uint64_t)0);
            atomic_store((_Atomic uint32_t *)&entry->damage.happened, 1u);
        }
    }
}

void strata_extend_watch(strata_damage *damage, size_t length) {
    struct entry *entry = (struct entry *)((char *)damage - offsetof(struct entry, damage));
    atomic_store(&entry->length, length);
}
