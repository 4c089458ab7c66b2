// Memory shared by processes: words, waiting, and queries for locks.
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline uint64_t strata_load64(const void *p) { return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE); }
static inline uint32_t strata_load32(const void *p) { return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE); }
static inline void strata_store64(void *p, uint64_t v) { __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE); }
static inline void strata_store32(void *p, uint32_t v) { __atomic_store_n((uint32_t *)p, v, __ATOMIC_RELEASE); }
// Compare and exchange: whether the word had the expected value and was replaced.
static inline int strata_exchange64(void *p, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n((uint64_t *)p, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}
static inline void strata_increment32(void *p) { __atomic_add_fetch((uint32_t *)p, 1, __ATOMIC_SEQ_CST); }
// No earlier store is reordered after a later load.
static inline void strata_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Maps the first bytes of a file, shared by all processes. NULL with errno.
void *strata_map_shared(int fd, size_t count);

// Whether the platform has locks of open file descriptions, and can query them.
int strata_has_shared_locks(void);

// Sleeps while the word is `value`, for at most that many microseconds; may return early.
void strata_wait_word(const void *word, uint32_t value, uint64_t microseconds);
void strata_wake_word(const void *word);

// Whether another descriptor has a lock on the byte. Returns 0, 1, or -errno.
int strata_is_locked(int fd, int64_t byte);

// Ids of the processes with a lock that begins at the byte, as far as this process may see them, at most `most`.
// Examines every process of the machine.
size_t strata_lock_holders(int fd, int64_t byte, int32_t *processes, size_t most);
