/*
 * assay_engine.h: how to add a storage engine of ordered keys and values to `assay`, without building `assay`.
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
 * Keys and values are any bytes, 0 among them. Only `size` says where they end: neither side reads a byte beyond it.
 * Where size is 0, `data` may be NULL. Neither side relies on alignment.
 *   - Bytes that Assay passes belong to Assay. They are valid until the call returns: copy what you keep.
 *   - A value that get gives belongs to the library. It must stay valid until the following call with the same
 *     transaction or one of its cursors. Assay neither changes nor frees it.
 *   - A key and a value that next gives must stay valid until the following call with the same cursor.
 *   - Texts that describe the library (name, version, settings and the others) must stay valid as long as the process
 *     lives.
 *   - A text that last_error gives must stay valid until the following call on the same thread.
 * All texts are UTF-8 and end with a byte 0.
 *
 *
 * ORDER
 *
 * Keys are ordered by their bytes, as memcmp compares them. Where one key is the beginning of the other, the shorter
 * comes first.
 *
 *
 * THREADS
 *
 * `threads` says how Assay may use threads; Assay does no more than that.
 *   - ASSAY_ONE_THREAD: all calls with a store come from the thread that opened it.
 *   - ASSAY_THREAD_PER_TRANSACTION: several threads call begin with one store at the same time, and each works with the
 *     transactions and cursors that it began. A thread calls compact while others are at work. A thread calls open and
 *     close while no other thread uses the store.
 *   - ASSAY_THREADS_FREE: in addition, a thread may use and end a transaction that another thread began. Calls with one
 *     transaction still come one at a time.
 * Several threads may make calls with different stores at the same time, except under ASSAY_ONE_THREAD.
 *
 *
 * ANSWERS
 *
 * Every function that can fail returns one of enum assay_status, its answer. After an answer other than ASSAY_OK and
 * ASSAY_NOT_FOUND, last_error tells in words what went wrong, and Assay reads no result of the failed call. When a call
 * with a transaction fails, the transaction stays open and Assay aborts it. commit is the exception: it ends its
 * transaction whatever the answer is.
 */
#ifndef ASSAY_ENGINE_H
#define ASSAY_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * This number changes when Assay would misread a library that was compiled with an older file. It does not change when
 * functions are added to the end of struct assay_engine: the `size` of a library tells which of them it has.
 */
#define ASSAY_ENGINE_ABI 1u

/* The result of a call. Another number counts as ASSAY_OTHER. */
enum assay_status {
    ASSAY_OK = 0,
    /* get: there is no such key. delete_key: there was none. next: the scan is at its end. No error. */
    ASSAY_NOT_FOUND = 1,
    /*
     * Another transaction is in the way: a lock, a conflict of two writers, a deadlock that was broken. The same call
     * may succeed later. If begin answers this, no transaction was begun. If any other call with a transaction answers
     * it, commit included, the store has and gets no change of that transaction. Assay then aborts the transaction
     * (unless commit answered), waits for a moment, and repeats all of it.
     */
    ASSAY_BUSY = 2,
    /*
     * The library noticed that the files are damaged, or are no database. Never answer it on a guess: Assay reports it
     * as damage that the engine has detected.
     */
    ASSAY_CORRUPT = 3,
    /* No space is left: on the disk, in a quota, or under the library's own limit on the size of its database. */
    ASSAY_FULL = 4,
    /* The system failed to open, read, write or sync a file, and no answer above says why. */
    ASSAY_IO = 5,
    /* All else: a key that is too long, a function that does not support what was asked, a mistake of the caller. */
    ASSAY_OTHER = 6
};

/* What a commit survives that has answered ASSAY_OK. */
enum assay_durability {
    /* It survives a power cut: the library syncs the commit to the device before it answers. */
    ASSAY_FULL_DURABILITY = 0,
    /* It survives the end of the process. A power cut may lose the newest commits, and keeps all before them. */
    ASSAY_PERIODIC_DURABILITY = 1,
    /* It survives a close, but not necessarily a kill or a power cut. */
    ASSAY_NO_DURABILITY = 2
};

/* How Assay may use threads: see THREADS above. */
enum assay_threads {
    ASSAY_ONE_THREAD = 0,
    ASSAY_THREAD_PER_TRANSACTION = 1,
    ASSAY_THREADS_FREE = 2
};

/* The mode of a transaction: ASSAY_READ or ASSAY_WRITE, and with ASSAY_READ possibly `| ASSAY_SNAPSHOT`. */
enum assay_begin {
    /* Only get and scan. Each call sees at least what was committed when the transaction began. */
    ASSAY_READ = 0,
    /*
     * Also put and delete_key. While another writer is at work, begin waits until that one is done, or answers
     * ASSAY_BUSY. An engine with concurrent writers finds conflicts later, and answers ASSAY_BUSY then. No update is
     * lost: no other transaction may change a key between this transaction's first get of the key and its commit.
     */
    ASSAY_WRITE = 1,
    /*
     * All reads of the transaction see what was committed when it began, and nothing that was committed later. Assay
     * asks for it only where `capabilities` names snapshots. Several snapshots of a store may be open at the same time,
     * for long, and beside a write transaction.
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
    /*
     * The version of the engine, not of this library: "1.23". Get it from the engine at run time, if the engine has a
     * function for it.
     */
    const char *version;

    /*
     * The library's claims: words with spaces between them. `assay conform` tests each claim; Assay does not run the
     * scenarios that need a claim that is missing.
     *   persistent   data outlives the process; without this claim stores are in memory, and Assay expects no files
     *   snapshots    begin accepts ASSAY_SNAPSHOT
     *   own-writes   get and scan of a write transaction see what it has put and deleted
     *   compaction   compact is not NULL
     *   checks       check is not NULL
     *   processes    several processes may have one directory open at the same time, under the rules for threads
     */
    const char *capabilities;

    /*
     * What the engine's own documentation promises, one line for each promise: "KIND | SENTENCE | SOURCE". SENTENCE
     * quotes the documentation, SOURCE says where it is. No outcome violates a promise that has no line. "" if the
     * documentation promises nothing.
     *   durability         a commit under ASSAY_FULL_DURABILITY survives a power cut
     *   atomicity          a transaction is seen whole or not at all, also after a kill or a power cut
     *   isolation LEVEL    LEVEL is read-committed, snapshot, serializable or strict-serializable
     *   detects-damage     damaged bytes are reported, and never returned as data
     *   survives-damage    damage never ends the process
     *   survives-limits    a limit on the process (files, their size, threads, memory) never ends the process
     *   bounded-size       the files stay under a stated bound
     *   bounded-wait       a writer waits only for the writers before it
     */
    const char *promises;

    /*
     * Files in the directory of a closed store, one line for each pattern: "ROLE PATTERN". A pattern matches the base
     * name, with * and ?. The first line that matches a file gives its role. "" for an engine in memory.
     *   data       Assay damages, copies and measures it. In an engine without a log, a durable commit syncs it
     *   log        like data, and a durable commit syncs it
     *   constant   data that the engine writes once and never changes afterwards
     *   lock       a file that processes only lock or share as memory. A simulated crash leaves it out. If it is a
     *              directory, Assay does not look into it
     *   ignored    no part of the database, such as a log of messages for people
     */
    const char *files;

    /*
     * The longest key and the longest value that put accepts, in bytes; 0 if only memory and disk limit them. put must
     * accept keys of 1 to 16 bytes and values of 0 to 65536 bytes. Beyond the limit it answers ASSAY_OTHER.
     */
    uint64_t longest_key;
    uint64_t longest_value;
    /* 1 if put accepts a key of 0 bytes, 0 if put answers ASSAY_OTHER to it. */
    uint32_t allows_empty_key;
    /* One of enum assay_threads. */
    uint32_t threads;

    /*
     * Returns the engine's settings for one of enum assay_durability, one line for each: "NAME = VALUE", each NAME
     * once, and none of them "library" or "ASSERTIONS". Reports show them. Returns NULL if the engine does not have
     * that class of durability; it must have at least one.
     */
    const char *(*settings)(uint32_t durability);

    /*
     * Opens the store in an existing directory, or makes one if the directory has none. If there is no such directory,
     * open answers an error, and does not make it.
     */
    int (*open)(const char *directory, uint32_t durability, assay_store **store);
    /*
     * Ends a store, whatever the answer is. The files must be as after a clean shutdown: the next open finds everything
     * that was committed, in every class of durability.
     */
    int (*close)(assay_store *store);

    int (*begin)(assay_store *store, uint32_t how, assay_transaction **transaction);
    int (*get)(assay_transaction *transaction, assay_bytes key, assay_bytes *value);
    /* Stores a value under a key. It replaces the value that the key had. */
    int (*put)(assay_transaction *transaction, assay_bytes key, assay_bytes value);
    /* Where there is no such key, it answers ASSAY_OK or ASSAY_NOT_FOUND, and changes nothing. */
    int (*delete_key)(assay_transaction *transaction, assay_bytes key);

    /*
     * Makes a cursor over a range of keys. A bound may be a key that the store does not have; NULL is no bound.
     *   backward 0: ascending, all keys k with *from <= k and k < *to
     *   backward 1: descending, all keys k with *from >= k and k > *to
     * The cursor is before its first entry. A transaction may have several cursors. While it has one, Assay calls
     * neither put nor delete_key with it.
     */
    int (*scan)(
        assay_transaction *transaction, const assay_bytes *from, const assay_bytes *to, int backward,
        assay_cursor **cursor);
    /* Gives the next entry. Answers ASSAY_NOT_FOUND at the end, and again at every further call. */
    int (*next)(assay_cursor *cursor, assay_bytes *key, assay_bytes *value);
    /* Ends a cursor. Assay always calls it before the cursor's transaction ends. */
    void (*end_scan)(assay_cursor *cursor);

    /*
     * Ends the transaction, whatever the answer is. ASSAY_OK: the store has all its changes, durable as the store's
     * class says, and every transaction that begins later sees them. ASSAY_BUSY: the store has none of them. Any other
     * answer: the store has all of them or none. The commit of a read transaction only ends it.
     */
    int (*commit)(assay_transaction *transaction);
    /* Ends the transaction and drops its changes. */
    void (*abort)(assay_transaction *transaction);

    /*
     * Returns the error of the latest failed call on this thread, with the engine's own code and text. With a store: of
     * a call with that store, its transactions and cursors. With NULL: of open and check. After an error it returns
     * neither NULL nor "". One text per thread (_Thread_local) is enough.
     */
    const char *(*last_error)(const assay_store *store);

    /*
     * Optional (claim compaction): moves live data together and gives free space of the files back to the file system.
     * It does not change the contents. It answers ASSAY_BUSY where open transactions prevent it.
     */
    int (*compact)(assay_store *store);
    /*
     * Optional (claim checks): verifies the files of a directory that no store has open, and leaves them closed. It
     * answers ASSAY_OK if it finds nothing wrong. Otherwise it answers ASSAY_CORRUPT, and last_error(NULL) says why.
     */
    int (*check)(const char *directory);
    /* Optional: gives the number of live bytes in the files, as far as the engine knows it without reading all. */
    int (*live_bytes)(assay_store *store, uint64_t *bytes);
} assay_engine_functions;

/* Must precede every declaration and definition of the exported function. */
#if defined(__GNUC__) || defined(__clang__)
#define ASSAY_ENGINE_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_ENGINE_EXPORT
#endif

/*
 * The one function that the library exports.
 *
 * `abi` is the ASSAY_ENGINE_ABI that Assay wants. A library that was compiled with another one returns NULL, or a
 * struct with its own number in `abi`: Assay then says so and stops. Every call returns the same.
 */
ASSAY_ENGINE_EXPORT const struct assay_engine *assay_engine(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
