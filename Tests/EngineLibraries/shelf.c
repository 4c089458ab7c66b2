// A small engine in a shared library, for tests: sorted entries in memory, a log of whole transactions on disk. The
// environment variable SHELF_MISTAKE plants one mistake, which a rule of `assay conform` has to find. SHELF_SHAPE
// makes the exported function wrong: what it returns, or that it returns.
#include "assay_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local char error_text[256];

static int is_on(const char *variable, const char *name) {
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, name) == 0;
}

static int mistake(const char *name) { return is_on("SHELF_MISTAKE", name); }

static int fail(int status, const char *what, const char *detail) {
    snprintf(error_text, sizeof error_text, "%s: %s", what, detail);
    return status;
}

static int fail_by_system(const char *what) {
    return fail(errno == ENOSPC ? ASSAY_FULL : ASSAY_IO, what, strerror(errno));
}

// Entries: immutable once they are in a list, and never freed, for tests are short.
struct entry {
    size_t key_size, value_size;
    unsigned char *key, *value;
};

struct list {
    size_t count, room;
    struct entry **entries;
};

static int compare(const unsigned char *a, size_t a_size, const unsigned char *b, size_t b_size) {
    if (mistake("text-keys")) {
        size_t a_length = strnlen((const char *)a, a_size), b_length = strnlen((const char *)b, b_size);
        a_size = a_length, b_size = b_length;
    }
    if (mistake("short-first") && a_size != b_size) return a_size < b_size ? -1 : 1;
    if (mistake("signed-bytes")) {
        for (size_t index = 0; index < a_size && index < b_size; index++) {
            if (a[index] != b[index]) return (signed char)a[index] < (signed char)b[index] ? -1 : 1;
        }
    } else {
        size_t shorter = a_size < b_size ? a_size : b_size;
        int order = shorter == 0 ? 0 : memcmp(a, b, shorter);
        if (order != 0) return order;
    }
    return a_size < b_size ? -1 : a_size > b_size;
}

/// The index of the first entry not before the key.
static size_t place(const struct list *list, assay_bytes key, int *is_there) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct entry *entry = list->entries[middle];
        if (compare(entry->key, entry->key_size, key.data, key.size) < 0) low = middle + 1;
        else high = middle;
    }
    struct entry *entry = low < list->count ? list->entries[low] : NULL;
    *is_there = entry != NULL && compare(entry->key, entry->key_size, key.data, key.size) == 0;
    return low;
}

static unsigned char *copied(assay_bytes bytes) {
    unsigned char *copy = malloc(bytes.size + 1);
    if (bytes.size > 0) memcpy(copy, bytes.data, bytes.size);
    return copy;
}

static void set(struct list *list, assay_bytes key, const assay_bytes *value) {
    int is_there;
    size_t index = place(list, key, &is_there);
    if (value == NULL) {
        if (!is_there) return;
        list->count--;
        memmove(list->entries + index, list->entries + index + 1, (list->count - index) * sizeof *list->entries);
        return;
    }
    struct entry *entry = malloc(sizeof *entry);
    entry->key_size = key.size;
    entry->key = copied(key);
    entry->value_size = value->size;
    if (mistake("text-values")) entry->value_size = value->size == 0 ? 0 : strnlen(value->data, value->size);
    if (mistake("short-values") && value->size > 65535) entry->value_size = 65535;
    entry->value = mistake("keeps-pointers") && value->size > 0 ? (unsigned char *)value->data : copied(*value);
    if (!is_there) {
        if (list->count == list->room) {
            list->room = list->room * 2 + 16;
            list->entries = realloc(list->entries, list->room * sizeof *list->entries);
        }
        memmove(list->entries + index + 1, list->entries + index, (list->count - index) * sizeof *list->entries);
        list->count++;
    }
    list->entries[index] = entry;
}

static struct list duplicate(const struct list *list) {
    struct list copy = {list->count, list->count + 16, malloc((list->count + 16) * sizeof(struct entry *))};
    if (list->count > 0) memcpy(copy.entries, list->entries, list->count * sizeof *list->entries);
    return copy;
}

// The log: records of a length, a checksum, and the changes of one transaction.
struct buffer {
    size_t size, room;
    unsigned char *bytes;
};

static void append(struct buffer *buffer, const void *bytes, size_t size) {
    if (buffer->size + size > buffer->room) {
        buffer->room = (buffer->size + size) * 2;
        buffer->bytes = realloc(buffer->bytes, buffer->room);
    }
    if (size > 0) memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

static void append_change(struct buffer *buffer, assay_bytes key, const assay_bytes *value) {
    uint32_t head[3] = {value != NULL, (uint32_t)key.size, value == NULL ? 0 : (uint32_t)value->size};
    append(buffer, head, sizeof head);
    append(buffer, key.data, key.size);
    if (value != NULL) append(buffer, value->data, value->size);
}

static uint32_t checksum(const unsigned char *bytes, size_t size) {
    uint32_t sum = 2166136261u;
    for (size_t index = 0; index < size; index++) sum = (sum ^ bytes[index]) * 16777619u;
    return sum;
}

static int write_record(int file, const struct buffer *changes) {
    struct buffer record = {0, 0, NULL};
    uint32_t head[2] = {(uint32_t)changes->size, checksum(changes->bytes, changes->size)};
    append(&record, head, sizeof head);
    append(&record, changes->bytes, changes->size);
    ssize_t count = write(file, record.bytes, record.size);
    int status = count == (ssize_t)record.size ? ASSAY_OK : fail_by_system("write");
    free(record.bytes);
    return status;
}

struct assay_store {
    int file;
    uint32_t durability;
    char directory[4096];
    pthread_mutex_t lock;
    // Not a mutex, since another thread may end a transaction than the one that began it.
    sem_t writer;
    struct list current;
    struct buffer late;
};

static void apply(struct list *list, const unsigned char *bytes, size_t size) {
    for (size_t at = 0; at + 12 <= size;) {
        uint32_t head[3];
        memcpy(head, bytes + at, sizeof head);
        assay_bytes key = {bytes + at + 12, head[1]}, value = {bytes + at + 12 + head[1], head[2]};
        at += 12 + (size_t)head[1] + head[2];
        if (at > size) return;
        set(list, key, head[0] ? &value : NULL);
    }
}

/// Reads all records; a truncated last one was never acknowledged, and is dropped.
static int load(struct assay_store *store) {
    struct stat status;
    if (fstat(store->file, &status) != 0) return fail_by_system("fstat");
    size_t size = (size_t)status.st_size, at = 0;
    unsigned char *bytes = malloc(size + 1);
    if (pread(store->file, bytes, size, 0) != (ssize_t)size) return fail_by_system("read");
    while (at + 8 <= size) {
        uint32_t head[2];
        memcpy(head, bytes + at, sizeof head);
        if (head[0] > size - at - 8) break;
        if (checksum(bytes + at + 8, head[0]) != head[1]) return fail(ASSAY_CORRUPT, "shelf.log", "a wrong checksum");
        apply(&store->current, bytes + at + 8, head[0]);
        at += 8 + (size_t)head[0];
    }
    free(bytes);
    if (at < size && ftruncate(store->file, (off_t)at) != 0) return fail_by_system("ftruncate");
    return lseek(store->file, 0, SEEK_END) < 0 ? fail_by_system("lseek") : ASSAY_OK;
}

static int shelf_open(const char *directory, uint32_t durability, assay_store **out) {
    if (mistake("crash")) *(volatile int *)8 = 1;
    if (mistake("makes-directory")) mkdir(directory, 0755);
    struct assay_store *store = calloc(1, sizeof *store);
    store->durability = durability;
    snprintf(store->directory, sizeof store->directory, "%s", directory);
    char path[5000];
    snprintf(path, sizeof path, "%s/shelf.log", directory);
    store->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (mistake("forgets-at-open") ? O_TRUNC : 0), 0644);
    if (store->file < 0) {
        free(store);
        return fail_by_system(path);
    }
    if (mistake("stray-file")) {
        snprintf(path, sizeof path, "%s/notes.tmp", directory);
        close(open(path, O_WRONLY | O_CREAT, 0644));
    }
    pthread_mutex_init(&store->lock, NULL);
    sem_init(&store->writer, 0, 1);
    int status = load(store);
    if (status != ASSAY_OK) {
        close(store->file);
        free(store);
        return status;
    }
    *out = store;
    return ASSAY_OK;
}

static int shelf_close(assay_store *store) {
    int status = ASSAY_OK;
    if (store->late.size > 0 && !mistake("close-loses")) {
        ssize_t count = write(store->file, store->late.bytes, store->late.size);
        if (count != (ssize_t)store->late.size) status = fail_by_system("write");
    }
    close(store->file);
    free(store->current.entries);
    free(store);
    return status;
}

struct assay_transaction {
    struct assay_store *store;
    uint32_t how;
    struct list seen, written;
    struct buffer changes;
    unsigned char *got;
};

struct assay_cursor {
    struct assay_transaction *transaction;
    size_t next, end;
    int is_backward, calls_at_end;
};

static int shelf_begin(assay_store *store, uint32_t how, assay_transaction **out) {
    struct assay_transaction *transaction = calloc(1, sizeof *transaction);
    transaction->store = store;
    transaction->how = how;
    if (how == ASSAY_WRITE && !mistake("no-writer-lock")) sem_wait(&store->writer);
    pthread_mutex_lock(&store->lock);
    transaction->seen = duplicate(&store->current);
    transaction->written = duplicate(&store->current);
    pthread_mutex_unlock(&store->lock);
    *out = transaction;
    return ASSAY_OK;
}

static void end(assay_transaction *transaction) {
    int has_lock = transaction->how == ASSAY_WRITE && !mistake("no-writer-lock");
    if (has_lock) sem_post(&transaction->store->writer);
    free(transaction->seen.entries);
    free(transaction->written.entries);
    free(transaction->changes.bytes);
    free(transaction->got);
    free(transaction);
}

static const struct list *visible(assay_transaction *transaction) {
    if ((transaction->how & ASSAY_SNAPSHOT) && mistake("snapshot-moves")) return &transaction->store->current;
    return mistake("forgets-own-writes") ? &transaction->seen : &transaction->written;
}

static int shelf_get(assay_transaction *transaction, assay_bytes key, assay_bytes *value) {
    static unsigned char shared[1 << 20];
    int is_there;
    const struct list *list = visible(transaction);
    size_t index = place(list, key, &is_there);
    if (!is_there) return ASSAY_NOT_FOUND;
    struct entry *entry = list->entries[index];
    if (entry->value_size == 0 && mistake("empty-is-missing")) return ASSAY_NOT_FOUND;
    value->data = entry->value;
    value->size = entry->value_size;
    if (mistake("one-buffer") && value->size <= sizeof shared) {
        memcpy(shared, value->data, value->size);
        value->data = shared;
    }
    return ASSAY_OK;
}

static int shelf_put(assay_transaction *transaction, assay_bytes key, assay_bytes value) {
    if (key.size == 0 && !mistake("takes-empty-key")) return fail(ASSAY_OTHER, "put", "a key of 0 bytes");
    if (key.size > 2000 && !mistake("takes-long-key")) return fail(ASSAY_OTHER, "put", "a key beyond 2000 bytes");
    set(&transaction->written, key, &value);
    append_change(&transaction->changes, key, &value);
    return ASSAY_OK;
}

static int shelf_delete(assay_transaction *transaction, assay_bytes key) {
    int is_there;
    place(&transaction->written, key, &is_there);
    if (!is_there) return mistake("missing-is-error") ? fail(ASSAY_OTHER, "delete", "no such key") : ASSAY_NOT_FOUND;
    set(&transaction->written, key, NULL);
    append_change(&transaction->changes, key, NULL);
    return ASSAY_OK;
}

/// The index of the first entry after the key.
static size_t behind(const struct list *list, assay_bytes key) {
    int is_there;
    size_t index = place(list, key, &is_there);
    return index + (size_t)is_there;
}

static int shelf_scan(
    assay_transaction *transaction, const assay_bytes *from, const assay_bytes *to, int backward,
    assay_cursor **out) {
    const struct list *list = visible(transaction);
    struct assay_cursor *cursor = calloc(1, sizeof *cursor);
    int is_there;
    cursor->transaction = transaction;
    if (backward && mistake("exits")) exit(0);
    cursor->is_backward = backward;
    if (!backward) {
        cursor->next = from == NULL ? 0 : mistake("skips-first") ? behind(list, *from) : place(list, *from, &is_there);
        cursor->end = to == NULL ? list->count : place(list, *to, &is_there);
        if (to != NULL && mistake("takes-last")) cursor->end = behind(list, *to);
    } else {
        // One more than the index that comes next.
        cursor->next = from == NULL ? list->count : behind(list, *from);
        cursor->end = to == NULL ? 0 : mistake("backward-takes-last") ? place(list, *to, &is_there) : behind(list, *to);
    }
    *out = cursor;
    return ASSAY_OK;
}

static int shelf_next(assay_cursor *cursor, assay_bytes *key, assay_bytes *value) {
    const struct list *list = visible(cursor->transaction);
    if (cursor->is_backward ? cursor->next <= cursor->end : cursor->next >= cursor->end) {
        if (mistake("ends-once") && cursor->calls_at_end++ > 0) return ASSAY_OTHER;
        return ASSAY_NOT_FOUND;
    }
    struct entry *entry = list->entries[cursor->is_backward ? --cursor->next : cursor->next++];
    *key = (assay_bytes){entry->key, entry->key_size};
    *value = (assay_bytes){entry->value, entry->value_size};
    return ASSAY_OK;
}

static void shelf_end_scan(assay_cursor *cursor) { free(cursor); }

static int keep(struct assay_store *store, const struct buffer *changes) {
    if (store->durability == ASSAY_NO_DURABILITY || (store->durability == 1 && mistake("writes-late"))) {
        uint32_t head[2] = {(uint32_t)changes->size, checksum(changes->bytes, changes->size)};
        append(&store->late, head, sizeof head);
        append(&store->late, changes->bytes, changes->size);
        return ASSAY_OK;
    }
    int status = write_record(store->file, changes);
    if (status == ASSAY_OK && store->durability == ASSAY_FULL_DURABILITY && !mistake("no-sync")) {
        if (fdatasync(store->file) != 0) return fail_by_system("fdatasync");
    }
    return status;
}

static int shelf_commit(assay_transaction *transaction) {
    struct assay_store *store = transaction->store;
    int status = ASSAY_OK;
    if (transaction->changes.size > 0) status = keep(store, &transaction->changes);
    if (status == ASSAY_OK && transaction->changes.size > 0) {
        pthread_mutex_lock(&store->lock);
        struct list old = store->current;
        store->current = transaction->written;
        transaction->written = old;
        pthread_mutex_unlock(&store->lock);
    }
    end(transaction);
    return status;
}

static void shelf_abort(assay_transaction *transaction) {
    if (mistake("abort-commits")) shelf_commit(transaction);
    else end(transaction);
}

static const char *shelf_error(const assay_store *store) {
    (void)store;
    return mistake("no-texts") ? "" : error_text;
}

/// All entries as one record of a new log.
static int shelf_compact(assay_store *store) {
    char path[5000], new_path[5000];
    snprintf(path, sizeof path, "%s/shelf.log", store->directory);
    snprintf(new_path, sizeof new_path, "%s/shelf.new", store->directory);
    int file = open(new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return fail_by_system(new_path);
    struct buffer changes = {0, 0, NULL};
    pthread_mutex_lock(&store->lock);
    size_t count = store->current.count;
    if (count > 0 && mistake("compaction-drops")) count--;
    for (size_t index = 0; index < count; index++) {
        struct entry *entry = store->current.entries[index];
        assay_bytes value = {entry->value, entry->value_size};
        append_change(&changes, (assay_bytes){entry->key, entry->key_size}, &value);
    }
    int status = write_record(file, &changes);
    if (status == ASSAY_OK && (fsync(file) != 0 || rename(new_path, path) != 0)) status = fail_by_system("rename");
    if (status == ASSAY_OK) {
        close(store->file);
        store->file = file;
        store->late.size = 0;
    }
    pthread_mutex_unlock(&store->lock);
    free(changes.bytes);
    return status;
}

static int shelf_check(const char *directory) {
    if (mistake("check-complains")) return fail(ASSAY_CORRUPT, "check", "nothing is ever right");
    assay_store *store;
    int status = shelf_open(directory, ASSAY_FULL_DURABILITY, &store);
    return status == ASSAY_OK ? shelf_close(store) : status;
}

static int shelf_live_bytes(assay_store *store, uint64_t *bytes) {
    *bytes = 0;
    pthread_mutex_lock(&store->lock);
    for (size_t index = 0; index < store->current.count; index++) {
        *bytes += store->current.entries[index]->key_size + store->current.entries[index]->value_size;
    }
    pthread_mutex_unlock(&store->lock);
    return ASSAY_OK;
}

static const char *shelf_settings(uint32_t durability) {
    static const char *texts[] = {"sync = fdatasync", "sync = none", "write = at close"};
    return durability < 3 ? texts[durability] : NULL;
}

ASSAY_ENGINE_EXPORT const struct assay_engine *assay_engine(uint32_t abi) {
    static struct assay_engine engine = {
        .abi = ASSAY_ENGINE_ABI, .size = sizeof(struct assay_engine), .name = "shelf", .version = "1.0",
        .capabilities = "persistent snapshots own-writes compaction checks",
        .promises = "durability | Every commit is written and synced. | shelf.c\n"
                    "atomicity | A transaction is one record. | shelf.c\n"
                    "isolation serializable | Writers take turns. | shelf.c",
        .files = "log shelf.log\nignored shelf.new", .longest_key = 2000, .threads = ASSAY_THREADS_FREE,
        .settings = shelf_settings, .open = shelf_open, .close = shelf_close, .begin = shelf_begin, .get = shelf_get,
        .put = shelf_put, .delete_key = shelf_delete, .scan = shelf_scan, .next = shelf_next,
        .end_scan = shelf_end_scan, .commit = shelf_commit, .abort = shelf_abort, .last_error = shelf_error,
        .compact = shelf_compact, .check = shelf_check, .live_bytes = shelf_live_bytes,
    };
#ifdef SHELF_VERSION
    engine.version = SHELF_VERSION;
#endif
    if (mistake("says-processes")) engine.capabilities = "persistent snapshots own-writes processes";
    if (is_on("SHELF_SHAPE", "refuses") || abi != ASSAY_ENGINE_ABI) return NULL;
    if (is_on("SHELF_SHAPE", "other-abi")) engine.abi = 7;
    if (is_on("SHELF_SHAPE", "short")) engine.size = 80;
    if (is_on("SHELF_SHAPE", "no-put")) engine.put = NULL;
    if (is_on("SHELF_SHAPE", "no-check")) engine.check = NULL;
    if (is_on("SHELF_SHAPE", "bad-name")) engine.name = "My Engine";
    if (is_on("SHELF_SHAPE", "taken-name")) engine.name = "model";
    if (is_on("SHELF_SHAPE", "bad-word")) engine.capabilities = "persistent fast";
    if (is_on("SHELF_SHAPE", "bad-promise")) engine.promises = "it never fails";
    if (is_on("SHELF_SHAPE", "no-class")) engine.settings = NULL;
    if (is_on("SHELF_SHAPE", "crash")) *(volatile int *)8 = 1;
    if (is_on("SHELF_SHAPE", "exit")) _exit(7);
    return &engine;
}
