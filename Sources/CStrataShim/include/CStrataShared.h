// Memory that processes share: words, a lock that survives its holder, and waiting.
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline uint64_t strata_load64(const void *p) { return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE); }
static inline uint32_t strata_load32(const void *p) { return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE); }
static inline void strata_store64(void *p, uint64_t v) { __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE); }
static inline void strata_store32(void *p, uint32_t v) { __atomic_store_n((uint32_t *)p, v, __ATOMIC_RELEASE); }
static inline void strata_increment32(void *p) { __atomic_add_fetch((uint32_t *)p, 1, __ATOMIC_SEQ_CST); }
// No store before it stays behind a load after it.
static inline void strata_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Bytes that a shared lock takes at most.
#define STRATA_LOCK_SIZE 64

// Maps the first bytes of a file for loads and stores that all processes see. NULL with errno.
void *strata_map_shared(int fd, size_t count);

// Whether the platform has locks that survive a holder's death.
int strata_has_shared_locks(void);
int strata_lock_init(void *lock);
// Takes the lock; gives up after a second. Returns 0; EOWNERDEAD when its holder died with it (it is held and usable);
// ETIMEDOUT; or another number when the bytes are no lock.
int strata_lock(void *lock);
int strata_unlock_shared(void *lock);

// Sleeps while the word is `value`, at most so many microseconds; may return early.
void strata_wait_word(const void *word, uint32_t value, uint64_t microseconds);
void strata_wake_word(const void *word);

// Whether another descriptor has a lock on the byte. Returns 0, 1, or -errno.
int strata_is_locked(int fd, int64_t byte);
