// What the preloaded library saw a program do to its files, and whether what was acknowledged had been synced.
//
// libAssayPreload.so stands in LD_PRELOAD behind every other library there, so that it is the last to see a call before
// libc. It counts the calls that lead to regular files below the watched directories. A program asks it by these
// functions, which it finds by dlsym: nothing links the library.
//
// Where the counts stand: in memory that a process shares with the children that it forks, so that they count together.
// A program that is executed counts for itself.
//
// What is not seen: stores through a map (shared writable maps are counted), calls that libc makes for itself (stdio,
// mkstemp, and what posix_spawn does in the child; its writes and opens are seen with a trace or a file of faults),
// system calls by number (counted as unseen where they lead to a watched file or to a ring), programs without dynamic
// linking, and descriptors opened before a watched directory was renamed.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Raised when a structure or the meaning of a field changes.
#define ASSAY_IO_VERSION 2

int assay_io_version(void);

// Which directories are watched: absolute paths with colons between them, at most eight; none stops the watching. The
// environment variable ASSAY_IO_ROOT says it from the start. To be called while no other thread works on files.
void assay_io_set_root(const char *directories);

// Which base names are logs, and which are not looked at (locks, shared memory): patterns of `*` and `?`, with colons
// between them. All other files are data. ASSAY_IO_LOG_NAMES and ASSAY_IO_IGNORED_NAMES say it from the start.
void assay_io_set_log_names(const char *patterns);
void assay_io_set_ignored_names(const char *patterns);

// A slow disk: every sync of a watched file or directory (fsync, fdatasync, syncfs, msync with MS_SYNC, sync_file_range
// that waits, a write by O_SYNC, O_DSYNC, RWF_SYNC or RWF_DSYNC) takes so much longer at least, and every other write so
// much. 0 for none. The delay comes after the call and before it counts as done. For the process and the children that
// it forks. `sync` is not delayed: it is about more than the watched files.
void assay_io_set_delays(uint64_t sync_nanoseconds, uint64_t write_nanoseconds);

// A fault: `KINDS#N,EFFECT` or `KINDS#N,EFFECT,for-good`. The N-th call of these kinds, counted from 0, to what is
// watched is struck; for good: the later ones, too. NULL for none. Returns -1 for what it does not understand. The
// environment variable ASSAY_FAULT says it from the start, and ASSAY_FAULT_STATE names the file (at least 4 096 zeros)
// in which it and the counts stand for all programs that come of the first.
//
// Kinds, with `+` between them: write, sync (also syncfs, and msync with MS_SYNC of a watched map), sync-directory,
// truncate, allocate, create (an open that makes the file), open (any other), rename, link, unlink, read; `change` is
// all but open and read, `space` is what may need room: write, sync, truncate, allocate, create, rename, link.
// Effects: EIO, ENOSPC, EDQUOT: the call fails and does nothing; short: half of the bytes of a read or write, and, for
// good, ENOSPC for the calls after it; kill-before, kill-after: SIGKILL to the process group; none: they are counted.
int assay_io_set_fault(const char *fault);

// The calls of one kind so far; of `struck` those that the fault struck; of `inapplicable` 1 where the call whose turn it
// was could not be struck in that way; and of what no fault strikes: `unseen` calls by number, shared writable `maps`, and
// `streams` of libc that write to files; of `denied` those that the kernel itself refused for want of descriptors, room,
// memory or threads. 0 for any other word.
unsigned long long assay_io_fault_count(const char *kind);

// Since the process, or the one that it was forked from, began. Calls are counted whether they succeed or not, bytes
// when they were moved. 64-bit numbers only, so that a reader may take the whole for an array.
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

// The number of fields, and a field's name, so that a reader built apart can check what it reads.
size_t assay_io_field_count(void);
const char *assay_io_field_name(size_t index);

// The commit witness: was something that an engine acknowledged synced before it was acknowledged?
//
// The harness calls begin before and end after one operation that the engine acknowledges as durable, on the thread
// that does it; what the engine does in between, on whatever thread, is judged by the logs, the files named by
// assay_io_set_log_names; and where none of these was written to, in the same way by the other files, since an engine
// may bring its data to the disk without a log. All that is kept, for either kind of file:
//
// 1. One clock for all logs. A write takes the next tick when it starts, and begin remembers the clock: a write belongs
//    to the operation's time when its tick is later. A write that was in progress at begin is somebody else's.
// 2. Per log, how many writes have completed, and how many of these a sync has covered: a sync remembers the number
//    when it begins, and raises the covered number to it when it ends well. A write that completes while the sync runs
//    is not covered by it, even though it may be on the disk.
// 3. A write by O_DSYNC, O_SYNC, RWF_DSYNC or RWF_SYNC covers itself and nothing else: the kernel syncs the range that
//    was written, and pages dirtied before stay dirty (tried on ext4). It is not among the writes that wait for a sync.
// 4. A sync that fails covers nothing, and what was waiting then is lost for good: the kernel marks those pages clean,
//    so that a second sync succeeds and means nothing. Only a write that comes later can be covered again.
// 5. Per thread, the last of its own writes to each log since begin.
//
// Answers, in the order in which they are tried:
// - NOTHING: no write to any watched file started since begin. The operation is not durable by anything that we saw.
// - UNSYNCED, when the calling thread's own last write to some log is not covered. This is exact: whoever's sync it is
//   that covers it, ours or a leader's, it has ended.
// - SYNCED: every log written to since begin has all its completed writes covered. Whatever the operation wrote, and
//   whoever wrote it, is durable.
// - GROUPED: some write that started since begin is covered, and later ones, not of this thread, are not yet. So it is
//   when several threads commit: one leads, writes the records of all and syncs; while it acknowledges, the next leader
//   is writing already. A follower writes nothing itself, and its record is in a write that started after its begin, as
//   nobody had the record before. Which of the covered writes it is in cannot be seen, so this is weaker than SYNCED:
//   an engine that syncs for some callers and lies to others is found only where a thread writes for itself, or when
//   one thread is alone. A claim of durability should rest on a run with one writer, too.
// - UNSYNCED: something was written since begin, and no sync that began after it has ended well.
//
// Engines, and what to name as their logs:
// - Strata: `*.log`. A commit is written and synced by fdatasync, for several threads by a leader. A checkpoint writes
//   the data file, which is no log here, on a thread of its own. The first commits of a session, before there is a log,
//   and those too large for it, are checkpoints: the data file is synced, and judged.
// - SQLite with a WAL: `*-wal`. FULL syncs it in every commit. NORMAL and OFF do not: UNSYNCED. A checkpoint syncs the
//   WAL before it copies it, and adds nothing to it.
// - SQLite with a rollback journal: the journal and the database (`*-journal` and its name). Both are written, both are
//   synced, the database last; OFF syncs neither: UNSYNCED. That the journal is gone is a change of the directory,
//   which SQLite syncs only under EXTRA, and which this witness does not ask for.
// - LMDB: the data file. Pages by pwritev, then fdatasync, then the meta page by a descriptor with O_DSYNC: SYNCED.
//   With MDB_NOSYNC neither: UNSYNCED. With MDB_NOMETASYNC the meta page is written plainly and waits: UNSYNCED.
// - RocksDB: `*.log`. A leader writes and syncs for its group; background threads write tables, which are no logs.
// A truncation and an allocation of space are not writes here: they change no byte that was acknowledged.
enum {
    ASSAY_COMMIT_NOTHING = 0,
    ASSAY_COMMIT_SYNCED = 1,
    ASSAY_COMMIT_GROUPED = 2,
    ASSAY_COMMIT_UNSYNCED = 3,
};

// Filled by begin; the caller keeps it.
struct assay_commit {
    uint64_t clock;
    uint64_t reserved[3];
};

// Begin and end alternate on a thread: they do not nest.
void assay_commit_begin(struct assay_commit *commit);
int assay_commit_end(struct assay_commit *commit);

// What the thread's own writes since its last begin say, whatever others did meanwhile: SYNCED when those to logs are all
// covered, or those to other files are; UNSYNCED when neither is; NOTHING when it wrote nothing itself, or to too many
// files. For who knows that a thread commits for itself, and that something fails: another thread that makes a log, or
// gives it up, says nothing about this one's commit.
int assay_commit_own(void);

#ifdef __cplusplus
}
#endif
