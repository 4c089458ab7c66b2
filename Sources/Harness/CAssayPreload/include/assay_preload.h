// A program's operations on its files, as recorded by the preloaded library, and whether acknowledged data had been
// synced.
//
// libAssayPreload.so is the last library in LD_PRELOAD, so that it sees each call directly before libc. It counts calls
// on regular files below the watched directories. A program reads the counts by these functions, which it finds by
// dlsym: no program links the library.
//
// The counts are in memory that a process shares with its forked children, so that they count together. An executed
// program has counts of its own.
//
// Not seen: stores through a map (shared writable maps are counted), calls inside libc (stdio, mkstemp, and
// posix_spawn's in the child; with a trace or a file of faults libc's writes and opens are seen), system calls by
// number (counted as unseen if they use a watched file or a ring), statically linked programs, and descriptors opened
// before a watched directory was renamed.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Raised when a structure or the meaning of a field changes.
#define ASSAY_IO_VERSION 2

int assay_io_version(void);

// Sets the watched directories: absolute paths separated by colons, at most eight; an empty string stops watching.
// ASSAY_IO_ROOT sets them from the start. Not thread-safe: no other thread may work on files meanwhile.
void assay_io_set_root(const char *directories);

// Sets the base names of logs, and of ignored files (locks, shared memory): patterns of `*` and `?` separated by
// colons. All other files are data. ASSAY_IO_LOG_NAMES and ASSAY_IO_IGNORED_NAMES set them from the start.
void assay_io_set_log_names(const char *patterns);
void assay_io_set_ignored_names(const char *patterns);

// Simulates a slow disk: delays every sync of a watched file or directory (fsync, fdatasync, syncfs, msync with
// MS_SYNC, sync_file_range that waits, a write by O_SYNC, O_DSYNC, RWF_SYNC or RWF_DSYNC) and every other write by at
// least these times; 0 for none. The delay follows the call and precedes its count. It applies to the process and the
// children that it forks. `sync` is not delayed: it concerns more than the watched files.
void assay_io_set_delays(uint64_t sync_nanoseconds, uint64_t write_nanoseconds);

// Sets a fault: `KINDS#N,EFFECT` or `KINDS#N,EFFECT,for-good`. It strikes the N-th call of these kinds on a watched
// file, counted from 0; for good: the later ones, too. NULL for none. Returns -1 if the text is invalid. ASSAY_FAULT
// sets it from the start. ASSAY_FAULT_STATE names the file (at least 4 096 zeros) with the fault and the counts, shared
// by the first program and all its descendants.
//
// Kinds, joined by `+`: write, sync (also syncfs, and msync with MS_SYNC of a watched map), sync-directory, truncate,
// allocate, create (an open that creates the file), open (any other), rename, link, unlink, read; `change` is all but
// open and read, `space` is those that may need space: write, sync, truncate, allocate, create, rename, link.
// Effects: EIO, ENOSPC, EDQUOT: the call fails and does nothing; short: half of the bytes of a read or write, and, for
// good, half of later reads and ENOSPC for all other later calls; kill-before, kill-after: SIGKILL to the process
// group; none: the calls are only counted.
int assay_io_set_fault(const char *fault);

// The number of calls of one kind so far; of `struck` calls; of `inapplicable` calls: 1 if the effect does not apply to
// the call to be struck; of operations that no fault strikes: `unseen` system calls by number, shared writable `maps`,
// and `streams` of libc that write to files; of `denied` calls that the kernel refused for want of descriptors, space,
// memory or threads. 0 for any other name.
unsigned long long assay_io_fault_count(const char *kind);

// Counts since the start of the process, or of the ancestor that it was forked from. Calls count if they fail, too;
// bytes count if they were transferred. 64-bit numbers only, so that a reader can treat the structure as an array.
struct assay_io_counts {
    uint64_t write_calls;           // write, pwrite, writev, pwritev, pwritev2, copy_file_range, sendfile
    uint64_t written_bytes;
    uint64_t read_calls;            // read, pread, readv, preadv, preadv2, and the source of the last two above
    uint64_t read_bytes;
    uint64_t log_write_calls;       // of the writes above, those to logs
    uint64_t log_written_bytes;
    uint64_t sync_calls;            // fsync and fdatasync of files
    uint64_t failed_sync_calls;     // of these, those that failed
    uint64_t synced_write_calls;    // of the writes, those by O_SYNC, O_DSYNC, RWF_SYNC or RWF_DSYNC
    uint64_t range_sync_calls;      // sync_file_range: makes nothing durable
    uint64_t file_system_syncs;     // syncfs of a watched descriptor, and sync
    uint64_t directory_syncs;       // fsync and fdatasync of directories
    uint64_t map_syncs;             // msync of watched maps
    uint64_t truncations;           // ftruncate and truncate
    uint64_t allocations;           // fallocate and posix_fallocate: of space, not of memory
    uint64_t opens;                 // of watched files and directories
    uint64_t renames;
    uint64_t links;
    uint64_t unlinks;
    uint64_t shared_writable_maps;  // what is stored through them is not seen
    uint64_t unseen_calls;          // by number, to watched files; and every io_uring_* and io_submit
    uint64_t delayed_syncs;         // calls that a delay made longer: those that wait for the device
    uint64_t delayed_writes;        // and writes that do not
};

void assay_io_snapshot(struct assay_io_counts *counts);

// The number of fields, and a field's name, so that a reader compiled separately can check the layout.
size_t assay_io_field_count(void);
const char *assay_io_field_name(size_t index);

// The commit witness: was the data of an acknowledged operation synced before the acknowledgement?
//
// The harness calls begin before and end after one operation that the engine acknowledges as durable, on the thread
// that runs it. The witness judges the engine's writes on all threads in between by the logs, the files named by
// assay_io_set_log_names. If none of these was written to, it judges the other files in the same way, since an engine
// may make data durable without a log. Its state, for either kind of file:
//
// 1. One clock for all logs. A write takes the next tick when it starts, and begin remembers the clock: a write belongs
//    to the operation's interval if its tick is later. A write in progress at begin belongs to another operation.
// 2. Per log, the number of completed writes, and how many of these are covered by a sync: a sync remembers the number
//    when it begins, and on success raises the covered number to it. A write that completes during the sync is not
//    covered by it, even though it may be on the disk.
// 3. A write by O_DSYNC, O_SYNC, RWF_DSYNC or RWF_SYNC covers only itself: the kernel syncs the written range, and
//    earlier dirty pages stay dirty (tried on ext4). It is not among the writes that wait for a sync.
// 4. A failed sync covers nothing, and the writes that waited for it are lost for good: the kernel marks those pages
//    clean, so that a second sync succeeds without writing them. Only a later write can be covered again.
// 5. Per thread, the last of its own writes to each log since begin.
//
// Answers, in the order in which they are tried:
// - NOTHING: no write to any watched file started since begin. Nothing observed makes the operation durable.
// - UNSYNCED, if the calling thread's own last write to some log is not covered. This is exact: the sync that would
//   cover it, this thread's or a leader's, would have ended by now.
// - SYNCED: every log written to since begin has all its completed writes covered. Every write of the operation is
//   durable, on whatever thread it was made.
// - GROUPED: some write that started since begin is covered, and later ones, of other threads, are not yet. This occurs
//   when several threads commit: a leader writes the records of all and syncs; while it acknowledges, the next leader
//   already writes. A follower writes nothing itself. Its record is in a write that started after its begin, since no
//   thread had the record before. Which of the covered writes it is in cannot be observed, so this is weaker than
//   SYNCED: an engine that syncs for some callers and lies to others is found only if a thread writes for itself, or
//   when one thread runs alone. A claim of durability should rest on a run with one writer, too.
// - UNSYNCED: there were writes since begin, and no sync that began after them has succeeded.
//
// Engines, and what to name as their logs:
// - Strata: `*.log`. A commit is written and synced by fdatasync, for several threads by a leader. A checkpoint writes
//   the data file, which is not a log here, on its own thread. The first commits of a session, before there is a log,
//   and those too large for it, are checkpoints: they sync the data file, which is judged.
// - SQLite with a WAL: `*-wal`. FULL syncs it in every commit. NORMAL and OFF do not: UNSYNCED. A checkpoint syncs the
//   WAL before it copies it, and appends nothing to it.
// - SQLite with a rollback journal: the journal and the database (`*-journal` and its name). Both are written and
//   synced, the database last; OFF syncs neither: UNSYNCED. Removing the journal is a change of the directory, which
//   SQLite syncs only under EXTRA, and which this witness does not check.
// - LMDB: the data file. Pages by pwritev, then fdatasync, then the meta page by a descriptor with O_DSYNC: SYNCED.
//   With MDB_NOSYNC neither: UNSYNCED. With MDB_NOMETASYNC the meta page is a plain write that waits for a sync:
//   UNSYNCED.
// - RocksDB: `*.log`. A leader writes and syncs for its group; background threads write tables, which are not logs.
// Truncations and allocations are not writes here: they change no acknowledged byte.
enum {
    ASSAY_COMMIT_NOTHING = 0,
    ASSAY_COMMIT_SYNCED = 1,
    ASSAY_COMMIT_GROUPED = 2,
    ASSAY_COMMIT_UNSYNCED = 3,
};

// Filled by begin; owned by the caller.
struct assay_commit {
    uint64_t clock;
    uint64_t reserved[3];
};

// Begin and end alternate on a thread: they do not nest.
void assay_commit_begin(struct assay_commit *commit);
int assay_commit_end(struct assay_commit *commit);

// Judges only the thread's own writes since its last begin. SYNCED if all those to logs are covered, or all those to
// other files; UNSYNCED if neither are; NOTHING if it wrote nothing itself, or to too many files. For a caller that
// knows that the thread commits for itself, in a run with failing calls: another thread that creates or abandons a log
// must not affect this thread's result.
int assay_commit_own(void);

#ifdef __cplusplus
}
#endif
