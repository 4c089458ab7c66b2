#include "CStrataShim.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Invariants
// 1. A thread that opens a descriptor holds forks from the open to strata_note_descriptor, and later from
//    strata_forget_descriptor to the close; it does the same around mmap with strata_watch, and munmap with
//    strata_unwatch. So a child knows all that it must drop. File locks belong to the open file description, which a
//    descriptor shares with its copies in children and with its maps: a copy in a child would keep the locks of a dead
//    parent, and the child could use them as its own.
// 2. The child closes its copies and never unlocks: an unlock would release the parent's locks.
// 3. Until fork returns, the child calls nothing but close and mmap: another thread may have held any mutex when the
//    child was made.
// 4. A thread that holds forks takes memory only from mmap. With a heap that has fork handlers of its own it could
//    deadlock: a forking thread locks that heap, and then waits in `before`.

uint32_t strata_forks;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// A bit per descriptor, set while a child has to close it.
static uint64_t *words;
static size_t word_count;

static void before(void) { pthread_mutex_lock(&mutex); }
static void in_parent(void) { pthread_mutex_unlock(&mutex); }

void strata_hold_forks(void) { pthread_mutex_lock(&mutex); }
void strata_release_forks(void) { pthread_mutex_unlock(&mutex); }

static void in_child(void) {
    for (size_t i = 0; i < word_count; i++) {
        while (words[i] != 0) {
            int bit = __builtin_ctzll(words[i]);
            words[i] &= words[i] - 1;
            close((int)(i * 64) + bit);
        }
    }
    strata_forget_maps();
    __atomic_add_fetch(&strata_forks, 1u, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&mutex);
}

// The loader installs the handlers before main, and not the thread that notes the first descriptor: a process whose
// stores are all in memory notes none, and the handlers must count its forks as well.
static int installed = -1;
__attribute__((constructor)) static void install(void) {
    installed = pthread_atfork(before, in_parent, in_child);
}

int strata_note_descriptor(int fd) {
    // The open must fail: without the handlers parent and child would share locks, and neither could tell.
    if (installed != 0) return -1;
    size_t word = (size_t)fd / 64;
    if (word >= word_count) {
        size_t wanted = (word * 2 / 2048 + 1) * 2048;
        uint64_t *larger = strata_take_memory(wanted * sizeof *words);
        if (larger == NULL) return -1;
        if (words != NULL) {
            memcpy(larger, words, word_count * sizeof *words);
            munmap(words, word_count * sizeof *words);
        }
        words = larger;
        word_count = wanted;
    }
    words[word] |= 1ull << (fd % 64);
    return 0;
}

void *strata_take_memory(size_t bytes) {
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

void strata_forget_descriptor(int fd) {
    size_t word = (size_t)fd / 64;
    if (word < word_count) words[word] &= ~(1ull << (fd % 64));
}
