/*
 * assay_engine.h: how a storage engine of ordered keys and values is made known to `assay`, without building `assay`.
 *
 * Write a shared library that exports ONE function, assay_engine, and hand it over:
 *
 *     cc -shared -fPIC -o libmine.so mine.c -lmine
 *     assay conform --engine-library ./libmine.so        what is wrong with it, rule by rule
 *     assay run --engine-library ./libmine.so --engine mine,sqlite
 *
 * This file is all that such a library needs. It is C11 and C++11, includes nothing of assay, and links nothing.
 *
 * Words. A *store* is an open directory. A *transaction* belongs to a store, a *cursor* to a transaction. A *call* is a
 * call of one of the functions below. "Assay" is the program that calls, "the library" is what you write.
 *
 *
 * THE LIFE OF A STORE
 *
 * Assay makes an empty directory and calls open, which makes a database in it, or opens the one that is there. The
 * directory holds the files of this database and no other file. A directory is opened once at a time in a process, and
 * closed before it is opened again. Assay ends every transaction before it closes the store. It also kills its process
 * without a close, copies the files of a closed store to another directory, and opens the copy.
 *
 * The library is loaded in worker processes, which may fork: a child never uses a store that its parent opened. So
 * nothing may happen when the library is loaded, and no thread may be started before the first open.
 *
 *
 * BYTES: WHO OWNS THEM, AND UNTIL WHEN
 *
 * Keys and values are any bytes, 0 among them. `size` counts, and no byte behind it may be read. Where size is 0,
 * `data` may be NULL. Alignment is not promised in either direction.
 *   - What Assay passes in belongs to Assay, and stands until the call returns: copy what you keep.
 *   - A value that get gives belongs to the library, and has to stand until the next call with the same transaction or
 *     one of its cursors. Assay neither changes nor frees it.
 *   - Key and value that next gives have to stand until the next call with the same cursor, or its end.
 *   - Texts that describe the library (name, version, settings and the others) stand as long as the process.
 *   - A text that last_error gives stands until the next call on the same thread.
 * All texts are UTF-8 and end with a byte 0.
 *
 *
 * ORDER
 *
 * Keys order as memcmp orders their bytes; where one is the beginning of the other, the shorter comes first.
 *
 *
 * THREADS
 *
 * `threads` says what Assay may do; it does no more than that.
 *   - ASSAY_ONE_THREAD: all calls of a store come from the thread that opened it.
 *   - ASSAY_THREAD_PER_TRANSACTION: several threads call begin of one store at the same time, and each works with the
 *     transactions and cursors that it began. compact comes while others are at work. open and close of a store come
 *     while no other thread uses it.
 *   - ASSAY_THREADS_FREE: beside that, a transaction may be used and ended by another thread than the one that began
 *     it. Calls with one transaction still come one at a time.
 * Calls with different stores may come from different threads at the same time, except under ASSAY_ONE_THREAD.
 *
 *
 * ANSWERS
 *
 * Every function that can fail answers one of enum assay_status. After an answer other than ASSAY_OK and
 * ASSAY_NOT_FOUND, last_error tells in words what went wrong. After a failed call its results are not read. A
 * transaction stays open when one of its calls failed, and Assay aborts it; commit alone ends it whatever it answers.
 */
#ifndef ASSAY_ENGINE_H
#define ASSAY_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Changes when a library that was built with an older file would be misunderstood. Functions that are added to the end
 * of struct assay_engine do not change it: its `size` tells which of them a library has.
 */
#define ASSAY_ENGINE_ABI 1u

/* The result of a call. Another number counts as ASSAY_OTHER. */
enum assay_status {
    ASSAY_OK = 0,
    /* get: there is no such key. delete_key: there was none. next: the scan is at its end. No error. */
    ASSAY_NOT_FOUND = 1,
    /*
     * Another transaction is in the way, and the same call may succeed later: a lock, a conflict of two writers, a
     * deadlock that was broken. From begin, nothing was begun. From any other call with a transaction, commit too,
     * nothing of the transaction is done or will be: Assay aborts it (unless it was commit that answered), waits for a
     * moment, and does the whole transaction again.
     */
    ASSAY_BUSY = 2,
    /* The library noticed that the files are damaged, or are no database. Never a guess: reports count it as found. */
    ASSAY_CORRUPT = 3,
    /* There is no room: the disk, a quota, or a limit of the library on the size of its database. */
    ASSAY_FULL = 4,
    /* The system refused to read, write or sync, or to open a file, and no answer above says why. */
    ASSAY_IO = 5,
    /* All else: a key that is too long, a function that does not support what was asked, a mistake of the caller. */
    ASSAY_OTHER = 6
};

/* The promise of a commit once it has answered ASSAY_OK. */
enum assay_durability {
    /* It survives a power cut: the commit is synced to the device before the answer. */
    ASSAY_FULL_DURABILITY = 0,
    /* It survives the end of the process. A power cut may lose the newest commits, and nothing of those before. */
    ASSAY_PERIODIC_DURABILITY = 1,
    /* It survives a close, but not necessarily a kill or a power cut. */
    ASSAY_NO_DURABILITY = 2
};

/* What threads may do: see above. */
enum assay_threads {
    ASSAY_ONE_THREAD = 0,
    ASSAY_THREAD_PER_TRANSACTION = 1,
    ASSAY_THREADS_FREE = 2
};

/* The mode of a transaction: ASSAY_READ or ASSAY_WRITE, and with ASSAY_READ possibly `| ASSAY_SNAPSHOT`. */
enum assay_begin {
    /* get and scan alone. Each sees at least what was committed when the transaction began. */
    ASSAY_READ = 0,
    /*
     * Also put and delete_key. Where another writer is at work, begin waits until it is done or answers ASSAY_BUSY; an
     * engine that lets writers run beside each other finds conflicts later, and answers ASSAY_BUSY then. No update may
     * be lost: between the transaction's first get of a key and its commit no other transaction changes that key.
     */
    ASSAY_WRITE = 1,
    /*
     * All reads of the transaction see what was committed when it began, and nothing that was committed later. Asked
     * for only where `capabilities` names snapshots; several of a store may be open at a time, for long, and beside a
     * write transaction.
     */
    ASSAY_SNAPSHOT = 2
};

typedef struct assay_bytes {
    const void *data;
    size_t size;
} assay_bytes;

/* Defined by the library. Assay only passes pointers to them. */
typedef struct assay_store assay_store;
typedef struct assay_transaction assay_transaction;
typedef struct assay_cursor assay_cursor;

/*
 * The description of a library. One value, constant for the life of the process.
 *
 * Members marked "optional" may be NULL; all other pointers must not be.
 */
typedef struct assay_engine {
    /* ASSAY_ENGINE_ABI, as the library was compiled. */
    uint32_t abi;
    /* sizeof(struct assay_engine), as the library was compiled. */
    uint32_t size;

    /*
     * The engine's name in commands and reports: 1 to 32 of a-z, 0-9 and "-", a letter first. Names of engines that
     * assay has by itself (`assay list`) are taken.
     */
    const char *name;
    /* Of the engine, not of this library: "1.23". Ask the engine that was loaded, where it can be asked. */
    const char *version;

    /*
     * Words, with spaces between them. Each claim is tried by `assay conform`; scenarios that need what is not claimed
     * are not run.
     *   persistent   data outlives the process (else a store is in memory, and no file is looked for)
     *   snapshots    ASSAY_SNAPSHOT holds
     *   own-writes   get and scan of a write transaction see what it has put and deleted
     *   compaction   compact is there
     *   checks       check is there
     *   processes    several processes may have one directory open at the same time, under the rules for threads
     */
    const char *capabilities;

    /*
     * What the engine's own documentation promises, a line each: "KIND | SENTENCE | SOURCE". The sentence is the
     * documentation's, the source says where it stands. A promise without a line is not made, and cannot be violated;
     * "" where nothing is promised.
     *   durability         a commit under ASSAY_FULL_DURABILITY survives a power cut
     *   atomicity          a transaction is seen whole or not at all, also after a kill or a power cut
     *   isolation LEVEL    LEVEL is read-committed, snapshot, serializable or strict-serializable
     *   detects-damage     damaged bytes are reported, and never returned as data
     *   survives-damage    damage never ends the process
     *   survives-limits    a limit of the process never ends it
     *   bounded-size       the files stay under a stated bound
     *   bounded-wait       a writer waits for those before it, and for no others
     */
    const char *promises;

    /*
     * Files in the directory of a closed store, a line each: "ROLE PATTERN". A pattern is for the base name, with * and
     * ?; the first line that matches counts. "" for an engine in memory.
     *   data       what is damaged, copied and measured
     *   log        the same; and what has to be synced for a commit to be durable. An engine without a log has data
     *              alone: then that is what has to be synced
     *   constant   data that is written once and never changed afterwards
     *   lock       a file that processes only lock or share as memory. A simulated crash leaves it out. Assay does not
     *              look into a directory of this kind
     *   ignored    no part of the database: a text for people
     */
    const char *files;

    /*
     * The longest key and value that can be stored, in bytes; 0 where only memory and disk are a limit. Keys of 1 to 16
     * bytes and values of 0 to 65536 bytes have to be possible. Beyond the limit put answers ASSAY_OTHER.
     */
    uint64_t longest_key;
    uint64_t longest_value;
    /* 1 where a key of 0 bytes can be stored, else 0: such a put answers ASSAY_OTHER. */
    uint32_t allows_empty_key;
    /* One of enum assay_threads. */
    uint32_t threads;

    /*
     * The settings for one of enum assay_durability, a line each: "NAME = VALUE". Reports show it. NULL (the answer,
     * not the function) where the engine does not have that class; it must have one of them at least.
     */
    const char *(*settings)(uint32_t durability);

    /*
     * Opens the store in a directory that exists, or makes one in it. Where the directory does not exist it answers an
     * error, and makes none.
     */
    int (*open)(const char *directory, uint32_t durability, assay_store **store);
    /*
     * Ends a store, whatever it answers. The files are left as after a clean shutdown: what was committed can be read
     * by the next open, in every class of durability.
     */
    int (*close)(assay_store *store);

    int (*begin)(assay_store *store, uint32_t how, assay_transaction **transaction);
    int (*get)(assay_transaction *transaction, assay_bytes key, assay_bytes *value);
    /* Stores the value under the key, replacing an older one. */
    int (*put)(assay_transaction *transaction, assay_bytes key, assay_bytes value);
    /* A key that is not there is no error: ASSAY_OK or ASSAY_NOT_FOUND, and nothing changes. */
    int (*delete_key)(assay_transaction *transaction, assay_bytes key);

    /*
     * Begins to go through a range of keys. Bounds may be keys that are not there; NULL is no bound.
     *   backward 0: ascending, all keys k with *from <= k and k < *to
     *   backward 1: descending, all keys k with *from >= k and k > *to
     * The cursor stands before its first entry. Assay changes nothing with a transaction that has a cursor; a
     * transaction may have several.
     */
    int (*scan)(
        assay_transaction *transaction, const assay_bytes *from, const assay_bytes *to, int backward,
        assay_cursor **cursor);
    /* The next entry; ASSAY_NOT_FOUND at the end, and again at every further call. */
    int (*next)(assay_cursor *cursor, assay_bytes *key, assay_bytes *value);
    /* Ends a cursor: always called, before its transaction ends. */
    void (*end_scan)(assay_cursor *cursor);

    /*
     * Ends the transaction, whatever it answers. ASSAY_OK: all of it is done, durable in the store's class, and seen by
     * all that begins later. ASSAY_BUSY: nothing of it is done. Any other answer: all of it or nothing. Of a read
     * transaction it only ends it.
     */
    int (*commit)(assay_transaction *transaction);
    /* Ends the transaction and drops what it changed. */
    void (*abort)(assay_transaction *transaction);

    /*
     * The error of the latest failed call on this thread, with the engine's own code and text: of that store, its
     * transactions and cursors; with NULL, of open and check. Never NULL, never "" after an error. One text per thread
     * (_Thread_local) is enough.
     */
    const char *(*last_error)(const assay_store *store);

    /*
     * Optional (capability compaction): moves live data together and gives free room of the files back. ASSAY_BUSY
     * where open transactions forbid it. Contents stay as they are.
     */
    int (*compact)(assay_store *store);
    /*
     * Optional (capability checks): verifies the files of a directory that no store has open, and leaves them closed.
     * ASSAY_OK where nothing is wrong, ASSAY_CORRUPT where something is, and last_error(NULL) says what.
     */
    int (*check)(const char *directory);
    /* Optional: how many bytes of the files are live, as far as the engine can tell without reading all of them. */
    int (*live_bytes)(assay_store *store, uint64_t *bytes);
} assay_engine_functions;

/* Before every declaration and definition of the exported function. */
#if defined(__GNUC__) || defined(__clang__)
#define ASSAY_ENGINE_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_ENGINE_EXPORT
#endif

/*
 * The one function that the library exports.
 *
 * `abi` is the ASSAY_ENGINE_ABI that Assay wants. A library that has another one answers a value with its own in
 * `abi` (Assay then says so and stops), or NULL. Called more than once, it answers the same.
 */
ASSAY_ENGINE_EXPORT const struct assay_engine *assay_engine(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
