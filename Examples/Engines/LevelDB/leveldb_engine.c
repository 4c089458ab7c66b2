/*
 * LevelDB for assay, by its C interface (leveldb/c.h).
 *
 * A read transaction is a set of read options, with a snapshot if Assay asks for one. A write transaction is a write
 * batch; it holds a mutex of the store until it ends, since LevelDB has no lock for a writer. Its reads see only
 * earlier commits and not the batch, so own-writes is not claimed.
 */
#include <assay_engine.h>
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct assay_store {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_writeoptions_t *write_options;
    pthread_mutex_t writer;
};

struct assay_transaction {
    assay_store *store;
    leveldb_readoptions_t *read_options;
    const leveldb_snapshot_t *snapshot;
    /* NULL in a read transaction. */
    leveldb_writebatch_t *batch;
    /* The value that the newest get returned: freed by the next get and at the end of the transaction. */
    char *value;
};

struct assay_cursor {
    leveldb_iterator_t *iterator;
    int is_backward;
    int has_begun;
    /* The second bound of the scan, which is not in the range. has_end is 0 if the scan has none. */
    int has_end;
    char *end;
    size_t end_size;
};

static _Thread_local char last_text[512];

static int failed(int status, const char *text) {
    snprintf(last_text, sizeof last_text, "%s", text);
    return status;
}

/* Frees LevelDB's error text, and returns the status that it stands for; ASSAY_OK if `text` is NULL. */
static int answer(char *text) {
    if (text == NULL) return ASSAY_OK;
    int status = ASSAY_OTHER;
    if (strncmp(text, "Corruption", 10) == 0) status = ASSAY_CORRUPT;
    else if (strstr(text, "No space left") != NULL) status = ASSAY_FULL;
    else if (strncmp(text, "IO error", 8) == 0) status = ASSAY_IO;
    failed(status, text);
    leveldb_free(text);
    return status;
}

static int level_open(const char *directory, uint32_t durability, assay_store **out) {
    struct stat status;
    /* LevelDB would make the directory; assay_engine.h requires an error. */
    if (stat(directory, &status) != 0) return failed(ASSAY_IO, "there is no such directory");
    assay_store *store = calloc(1, sizeof *store);
    if (store == NULL) return failed(ASSAY_OTHER, "no memory");
    store->options = leveldb_options_create();
    leveldb_options_set_create_if_missing(store->options, 1);
    store->write_options = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(store->write_options, durability == ASSAY_FULL_DURABILITY);
    pthread_mutex_init(&store->writer, NULL);
    char *text = NULL;
    store->db = leveldb_open(store->options, directory, &text);
    if (text != NULL) {
        leveldb_writeoptions_destroy(store->write_options);
        leveldb_options_destroy(store->options);
        free(store);
        return answer(text);
    }
    *out = store;
    return ASSAY_OK;
}

static int level_close(assay_store *store) {
    leveldb_close(store->db);
    leveldb_writeoptions_destroy(store->write_options);
    leveldb_options_destroy(store->options);
    pthread_mutex_destroy(&store->writer);
    free(store);
    return ASSAY_OK;
}

static int level_begin(assay_store *store, uint32_t how, assay_transaction **out) {
    assay_transaction *transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) return failed(ASSAY_OTHER, "no memory");
    if (how & ASSAY_WRITE) {
        pthread_mutex_lock(&store->writer);
        transaction->batch = leveldb_writebatch_create();
    }
    transaction->store = store;
    transaction->read_options = leveldb_readoptions_create();
    if (how & ASSAY_SNAPSHOT) {
        transaction->snapshot = leveldb_create_snapshot(store->db);
        leveldb_readoptions_set_snapshot(transaction->read_options, transaction->snapshot);
    }
    *out = transaction;
    return ASSAY_OK;
}

static void level_abort(assay_transaction *transaction) {
    assay_store *store = transaction->store;
    if (transaction->snapshot != NULL) leveldb_release_snapshot(store->db, transaction->snapshot);
    leveldb_readoptions_destroy(transaction->read_options);
    leveldb_free(transaction->value);
    if (transaction->batch != NULL) {
        leveldb_writebatch_destroy(transaction->batch);
        pthread_mutex_unlock(&store->writer);
    }
    free(transaction);
}

static int level_commit(assay_transaction *transaction) {
    char *text = NULL;
    if (transaction->batch != NULL) {
        leveldb_write(transaction->store->db, transaction->store->write_options, transaction->batch, &text);
    }
    level_abort(transaction);
    return answer(text);
}

static int level_get(assay_transaction *transaction, assay_bytes key, assay_bytes *value) {
    char *text = NULL;
    size_t size = 0;
    leveldb_free(transaction->value);
    transaction->value =
        leveldb_get(transaction->store->db, transaction->read_options, key.data, key.size, &size, &text);
    if (text != NULL) return answer(text);
    if (transaction->value == NULL) return ASSAY_NOT_FOUND;
    value->data = transaction->value;
    value->size = size;
    return ASSAY_OK;
}

static int level_put(assay_transaction *transaction, assay_bytes key, assay_bytes value) {
    leveldb_writebatch_put(transaction->batch, key.data, key.size, value.data, value.size);
    return ASSAY_OK;
}

static int level_delete(assay_transaction *transaction, assay_bytes key) {
    leveldb_writebatch_delete(transaction->batch, key.data, key.size);
    return ASSAY_OK;
}

static int order(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t shorter = a_size < b_size ? a_size : b_size;
    int difference = shorter == 0 ? 0 : memcmp(a, b, shorter);
    if (difference != 0) return difference;
    return a_size < b_size ? -1 : a_size > b_size;
}

static int level_scan(
    assay_transaction *transaction, const assay_bytes *from, const assay_bytes *to, int backward, assay_cursor **out) {
    assay_cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL) return failed(ASSAY_OTHER, "no memory");
    cursor->is_backward = backward;
    if (to != NULL) {
        cursor->has_end = 1;
        cursor->end_size = to->size;
        cursor->end = malloc(to->size + 1);
        if (to->size > 0) memcpy(cursor->end, to->data, to->size);
    }
    leveldb_iterator_t *iterator = leveldb_create_iterator(transaction->store->db, transaction->read_options);
    cursor->iterator = iterator;
    if (!backward) {
        if (from == NULL) leveldb_iter_seek_to_first(iterator);
        else leveldb_iter_seek(iterator, from->data, from->size);
    } else if (from == NULL) {
        leveldb_iter_seek_to_last(iterator);
    } else {
        /*
         * A backward scan begins at the last key that is not above the bound. The seek finds the first key that is not
         * below it: the wanted one is the key before, unless this is the bound itself.
         */
        leveldb_iter_seek(iterator, from->data, from->size);
        if (!leveldb_iter_valid(iterator)) {
            leveldb_iter_seek_to_last(iterator);
        } else {
            size_t size = 0;
            const char *key = leveldb_iter_key(iterator, &size);
            if (order(key, size, from->data, from->size) != 0) leveldb_iter_prev(iterator);
        }
    }
    *out = cursor;
    return ASSAY_OK;
}

static int level_next(assay_cursor *cursor, assay_bytes *key, assay_bytes *value) {
    leveldb_iterator_t *iterator = cursor->iterator;
    if (cursor->has_begun && leveldb_iter_valid(iterator)) {
        if (cursor->is_backward) leveldb_iter_prev(iterator);
        else leveldb_iter_next(iterator);
    }
    cursor->has_begun = 1;
    if (!leveldb_iter_valid(iterator)) {
        char *text = NULL;
        leveldb_iter_get_error(iterator, &text);
        return text == NULL ? ASSAY_NOT_FOUND : answer(text);
    }
    key->data = leveldb_iter_key(iterator, &key->size);
    if (cursor->has_end) {
        int place = order(key->data, key->size, cursor->end, cursor->end_size);
        if (cursor->is_backward ? place <= 0 : place >= 0) {
            /* The iterator stays here, so that each further call compares the same key and finds the end again. */
            cursor->has_begun = 0;
            return ASSAY_NOT_FOUND;
        }
    }
    value->data = leveldb_iter_value(iterator, &value->size);
    return ASSAY_OK;
}

static void level_end_scan(assay_cursor *cursor) {
    leveldb_iter_destroy(cursor->iterator);
    free(cursor->end);
    free(cursor);
}

static const char *level_error(const assay_store *store) {
    (void)store;
    return last_text;
}

static int level_compact(assay_store *store) {
    leveldb_compact_range(store->db, NULL, 0, NULL, 0);
    return ASSAY_OK;
}

/*
 * LevelDB has no check of its own. A scan with verify_checksums reads and verifies every data block of the tables, and
 * leaves the cache as it is. Damage of the log is found only if the open reports it.
 */
static int level_check(const char *directory) {
    assay_store *store = NULL;
    int status = level_open(directory, ASSAY_FULL_DURABILITY, &store);
    if (status != ASSAY_OK) return status;
    leveldb_readoptions_t *options = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(options, 1);
    leveldb_readoptions_set_fill_cache(options, 0);
    leveldb_iterator_t *iterator = leveldb_create_iterator(store->db, options);
    leveldb_iter_seek_to_first(iterator);
    while (leveldb_iter_valid(iterator)) leveldb_iter_next(iterator);
    char *text = NULL;
    leveldb_iter_get_error(iterator, &text);
    status = answer(text);
    leveldb_iter_destroy(iterator);
    leveldb_readoptions_destroy(options);
    level_close(store);
    return status;
}

static const char *level_settings(uint32_t durability) {
    switch (durability) {
    case ASSAY_FULL_DURABILITY: return "sync = true\nwrite_buffer_size = 4 MiB\nblock_cache = 8 MiB\nwriters = a lock";
    /*
     * Without sync, too, LevelDB hands each record of its log to the system before a write returns. It has no weaker
     * setting than that, so that both classes use it.
     */
    case ASSAY_PERIODIC_DURABILITY:
    case ASSAY_NO_DURABILITY: return "sync = false\nwrite_buffer_size = 4 MiB\nblock_cache = 8 MiB\nwriters = a lock";
    default: return NULL;
    }
}

ASSAY_ENGINE_EXPORT const struct assay_engine *assay_engine(uint32_t abi) {
    static char version[32];
    static const struct assay_engine engine = {
        .abi = ASSAY_ENGINE_ABI,
        .size = sizeof(struct assay_engine),
        .name = "leveldb",
        .version = version,
        .capabilities = "persistent snapshots compaction checks",
        .promises =
            "durability | A DB write with sync==true has similar crash semantics to a \"write()\" system call followed "
            "by \"fsync()\". | leveldb/options.h, WriteOptions::sync\n"
            "atomicity | WriteBatch holds a collection of updates to apply atomically to a DB. | "
            "leveldb/write_batch.h\n"
            "isolation read-committed | Return a handle to the current DB state. Iterators created with this handle "
            "will all observe a stable snapshot of the current DB state. | leveldb/db.h, GetSnapshot",
        .files =
            "log *.log\nconstant *.ldb\nconstant *.sst\ndata MANIFEST-*\ndata CURRENT\nlock LOCK\nignored LOG\n"
            "ignored LOG.old\nignored *.dbtmp",
        .allows_empty_key = 1,
        .threads = ASSAY_THREAD_PER_TRANSACTION,
        .settings = level_settings,
        .open = level_open,
        .close = level_close,
        .begin = level_begin,
        .get = level_get,
        .put = level_put,
        .delete_key = level_delete,
        .scan = level_scan,
        .next = level_next,
        .end_scan = level_end_scan,
        .commit = level_commit,
        .abort = level_abort,
        .last_error = level_error,
        .compact = level_compact,
        .check = level_check,
    };
    snprintf(version, sizeof version, "%d.%d", leveldb_major_version(), leveldb_minor_version());
    return abi == ASSAY_ENGINE_ABI ? &engine : NULL;
}
