// C functions that StrataFiles and StrataStorage need: system calls that Swift cannot make (variadic ones, functions
// that need _GNU_SOURCE), a signal handler, and loops over packed values.
#pragma once
#include "CStrataFork.h"
#include "CStrataKernels.h"
#include "CStrataObjects.h"
#include "CStrataShared.h"
#include "CStrataSteps.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

// open(2). Returns the descriptor or -errno.
int strata_open(const char *path, int flags, unsigned mode);

/* Creates a file for reading and writing; fails if it exists. It gets the owner, group and mode of another file,
 * as far as this process may set them, so that its contents are as private as those of the other file; but its owner
 * may always write it. If there is no other file, only the caller may read and write it. Returns the descriptor or
 * -errno. */
int strata_open_beside(const char *path, const char *original);

// Makes btrfs overwrite an empty file in place. By default btrfs writes changed blocks to new places, for which a full
// disk has no space, so that not even a delete would succeed. No effect on other file systems, or if btrfs refuses.
void strata_keep_places(int fd);

struct strata_status {
    int64_t size;
    uint64_t device;
    uint64_t inode;
    int is_regular;
};

// The status of a descriptor, or with `path` not NULL of a path. Returns 0 or -errno.
// Does not ask for times: a file system that has reported a time gives the next write a new one, which dirties the
// inode and costs a third of a commit's time.
int strata_get_status(int fd, const char *path, struct strata_status *status);

// The target of a symbolic link, without a terminating zero. Returns its length, or -errno.
long strata_read_link(const char *path, uint8_t *target, size_t size);

// The kind of the file system of a path, if another machine or a program serves it; NULL for a local one.
const char *strata_served_kind(const char *path);

// Makes everything durable that was written to the file system of an open file. Returns 0 or -errno.
int strata_sync_file_system(int fd);

// Renames to a name that does not exist. Returns 0 or -errno.
int strata_rename_new(const char *path, const char *destination);

// Starts write-back of a range and waits for it; makes nothing durable. Returns 0 or -errno.
int strata_write_back(int fd, int64_t offset, int64_t count);

// A lock on one byte that belongs to the open file description. Returns 0, 1 when another description holds a
// lock that excludes it, or -errno.
int strata_try_lock(int fd, int64_t byte, int exclusive);
int strata_unlock(int fd, int64_t byte);
int strata_unlock_all(int fd);

// The first byte from `offset` on outside of holes; -1 if only holes follow; `offset` if that is unknown.
int64_t strata_next_data(int fd, int64_t offset);
// The first hole from `offset` on, or the end of the file; the largest number if that is unknown.
int64_t strata_next_hole(int fd, int64_t offset);

// Nanoseconds of a monotonic clock.
uint64_t strata_monotonic_time(void);

// A condition whose timed waits use that clock.
int strata_condition_init(pthread_cond_t *condition);
// Waits until woken or until `deadline`. Returns 0, or ETIMEDOUT.
int strata_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline);

// XXH3 (64 bits) with 256-bit vectors. The caller first asks strata_can_hash_wide whether processor and build have
// them.
uint64_t strata_hash_wide(const void *bytes, size_t count);
int strata_can_hash_wide(void);

// Damage of a mapped file that was truncated or cannot be read.
typedef struct {
    uint32_t happened;  // 0 or 1
    uint64_t offset;    // of the last access that failed
} strata_damage;

// From now on an access to `length` bytes at `base` that ends in SIGBUS reads zeros and marks the damage, on any
// thread. Other SIGBUS go to the previous handler. Returns NULL without memory. The mark stays until strata_unwatch,
// which the caller calls before it unmaps the range.
strata_damage *strata_watch(const void *base, size_t length);
void strata_unwatch(strata_damage *damage);
// Sets the length of the watched range.
void strata_extend_watch(strata_damage *damage, size_t length);

// Extends a map in place. Returns 0 or -errno; after an error the map is unchanged.
int strata_extend_map(void *base, size_t length, size_t new_length);
// Maps zeroed private memory from `end` on, if nothing is mapped there. Returns 0 or -errno; after an error nothing has
// changed.
int strata_map_behind(void *end, size_t bytes);

// A number of the calling thread that is unique in this process; the system reuses its own.
uint64_t strata_thread_number(void);

// The number of the calling thread without a call; 0 in a thread that has never asked for it. Read-only.
extern __thread uint64_t strata_own_thread;
static inline uint64_t strata_known_thread(void) { return strata_own_thread; }

// Whether the calling code runs on the executor of an actor, given as the two words of its reference. False in a
// program without Swift's concurrency.
int strata_is_on_executor(uintptr_t identity, uintptr_t implementation);

// Retains a Swift object unless its deinit has begun; returns whether it was retained. The object's memory must not
// have been freed.
int strata_retain_living(void *object);

// Whether the calling thread is the program's first one.
int strata_is_first_thread(void);
