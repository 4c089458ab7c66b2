/*
 * Berkeley DB 5.3 for assay: one B-tree in a transactional environment of one process.
 *
 * Every open runs recovery. The shared regions of the environment are in private memory (DB_PRIVATE), so that the
 * directory holds only data and logs. A second process could not join such an environment: processes is not claimed.
 */
#include <assay_engine.h>
#include <db.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct assay_store {
    DB_ENV *environment;
    DB *db;
};

struct assay_transaction {
    assay_store *store;
    DB_TXN *handle;
    int is_write;
    /* The value that the newest get returned, in memory that Berkeley DB reallocates. */
    DBT value;
};

struct assay_cursor {
    DBC *handle;
    int is_backward;
    int has_begun;
    DBT key, value;
    int has_from, has_to;
    DBT from, to;
};

static const char data_file[] = "data.db";
static _Thread_local char last_text[512];
/*
 * The newest message that Berkeley DB passed to `listen` on this thread. It says more than the code that a call
 * returns.
 */
static _Thread_local char told[384];

static void listen(const DB_ENV *environment, const char *prefix, const char *message) {
    (void)environment;
    (void)prefix;
    snprintf(told, sizeof told, "%s", message);
}

static int failed(int code, const char *call) {
    snprintf(last_text, sizeof last_text, "%s: %s (%d)%s%s", call, db_strerror(code), code, told[0] ? "; " : "", told);
    int mentions_checksum = strstr(told, "checksum") != NULL;
    told[0] = 0;
    if (mentions_checksum) return ASSAY_CORRUPT;
    switch (code) {
    case DB_LOCK_DEADLOCK:
    case DB_LOCK_NOTGRANTED: return ASSAY_BUSY;
    case DB_RUNRECOVERY:
    case DB_VERIFY_BAD:
    case DB_PAGE_NOTFOUND:
    case DB_CHKSUM_FAIL:
    case DB_OLD_VERSION: return ASSAY_CORRUPT;
    case ENOSPC: return ASSAY_FULL;
    case EIO:
    case EACCES:
    case ENOENT:
    case EROFS: return ASSAY_IO;
    default: return ASSAY_OTHER;
    }
}

static int answer(int code, const char *call) {
    if (code == 0) {
        told[0] = 0;
        return ASSAY_OK;
    }
    if (code == DB_NOTFOUND) return ASSAY_NOT_FOUND;
    return failed(code, call);
}

static DBT given(assay_bytes bytes) {
    DBT dbt;
    memset(&dbt, 0, sizeof dbt);
    dbt.data = (void *)bytes.data;
    dbt.size = (u_int32_t)bytes.size;
    return dbt;
}

/* A DBT whose memory Berkeley DB reallocates if a result does not fit. */
static DBT growing(void) {
    DBT dbt;
    memset(&dbt, 0, sizeof dbt);
    dbt.flags = DB_DBT_REALLOC;
    return dbt;
}

static int berkeley_close(assay_store *store) {
    int code = 0, next;
    /*
     * The checkpoint writes dirty pages to the data file. DB_LOG_AUTO_REMOVE then removes logs that recovery does not
     * need.
     */
    if (store->db != NULL) {
        code = store->environment->txn_checkpoint(store->environment, 0, 0, 0);
        next = store->db->close(store->db, 0);
        if (code == 0) code = next;
    }
    if (store->environment != NULL) {
        next = store->environment->close(store->environment, 0);
        if (code == 0) code = next;
    }
    free(store);
    return answer(code, "close");
}

static int prepare(DB_ENV *environment, uint32_t durability) {
    int code = 0;
    environment->set_errcall(environment, listen);
    /* A transaction holds a lock for every page that it touches: the default limits stop large transactions. */
    if (code == 0) code = environment->set_lk_max_locks(environment, 400000);
    if (code == 0) code = environment->set_lk_max_objects(environment, 400000);
    if (code == 0) code = environment->set_lk_max_lockers(environment, 10000);
    if (code == 0) code = environment->set_cachesize(environment, 0, 64 << 20, 1);
    if (code == 0) code = environment->set_lk_detect(environment, DB_LOCK_DEFAULT);
    if (code == 0) code = environment->set_timeout(environment, 5000000, DB_SET_LOCK_TIMEOUT);
    if (code == 0) code = environment->set_flags(environment, DB_TIME_NOTGRANTED, 1);
    /* Trials copy all files of a store: with the default log file of 10 MiB, that would take most of their time. */
    if (code == 0) code = environment->set_lg_max(environment, 1 << 20);
    if (code == 0) code = environment->log_set_config(environment, DB_LOG_AUTO_REMOVE, 1);
    if (code == 0 && durability == ASSAY_PERIODIC_DURABILITY) {
        code = environment->set_flags(environment, DB_TXN_WRITE_NOSYNC, 1);
    }
    if (code == 0 && durability == ASSAY_NO_DURABILITY) code = environment->set_flags(environment, DB_TXN_NOSYNC, 1);
    return code;
}

static int berkeley_open(const char *directory, uint32_t durability, assay_store **out) {
    struct stat status;
    if (stat(directory, &status) != 0) return failed(errno, directory);
    assay_store *store = calloc(1, sizeof *store);
    if (store == NULL) return failed(ENOMEM, "open");
    int code = db_env_create(&store->environment, 0);
    if (code == 0) code = prepare(store->environment, durability);
    if (code == 0) {
        code = store->environment->open(
            store->environment, directory,
            DB_CREATE | DB_INIT_TXN | DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_MPOOL | DB_RECOVER | DB_PRIVATE | DB_THREAD,
            0644);
    }
    DB *db = NULL;
    if (code == 0) code = db_create(&db, store->environment, 0);
    if (code == 0) code = db->set_flags(db, DB_CHKSUM);
    /*
     * Recovery assumes that a page is written whole or not at all. Only one sector is: after a loss of power a page of
     * several sectors may have a part of them written.
     */
    if (code == 0) code = db->set_pagesize(db, 512);
    if (code == 0) {
        code = db->open(
            db, NULL, data_file, NULL, DB_BTREE, DB_AUTO_COMMIT | DB_CREATE | DB_MULTIVERSION | DB_THREAD, 0644);
    }
    if (code == 0) {
        store->db = db;
        *out = store;
        return ASSAY_OK;
    }
    int result = failed(code, "open");
    if (db != NULL) db->close(db, 0);
    berkeley_close(store);
    return result;
}

static int berkeley_begin(assay_store *store, uint32_t how, assay_transaction **out) {
    assay_transaction *transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) return failed(ENOMEM, "begin");
    u_int32_t flags = how & ASSAY_SNAPSHOT ? DB_TXN_SNAPSHOT : how == ASSAY_READ ? DB_READ_COMMITTED : 0;
    int code = store->environment->txn_begin(store->environment, NULL, &transaction->handle, flags);
    if (code != 0) {
        free(transaction);
        return failed(code, "txn_begin");
    }
    transaction->store = store;
    transaction->is_write = how == ASSAY_WRITE;
    transaction->value = growing();
    if (how & ASSAY_SNAPSHOT) {
        /*
         * Berkeley DB fixes a snapshot at the first read of the transaction, but Assay expects it from begin: read
         * here.
         */
        DBT nothing = given((assay_bytes){"", 1});
        code = store->db->exists(store->db, transaction->handle, &nothing, 0);
        if (code != 0 && code != DB_NOTFOUND) {
            transaction->handle->abort(transaction->handle);
            free(transaction);
            return failed(code, "first read of a snapshot");
        }
    }
    *out = transaction;
    return ASSAY_OK;
}

static int berkeley_commit(assay_transaction *transaction) {
    int code = transaction->handle->commit(transaction->handle, 0);
    free(transaction->value.data);
    free(transaction);
    return answer(code, "commit");
}

static void berkeley_abort(assay_transaction *transaction) {
    transaction->handle->abort(transaction->handle);
    free(transaction->value.data);
    free(transaction);
}

static int berkeley_get(assay_transaction *transaction, assay_bytes key, assay_bytes *value) {
    DBT wanted = given(key);
    DB *db = transaction->store->db;
    /*
     * DB_RMW takes a write lock for the read. Two write transactions that took read locks on one page and then wrote to
     * it would deadlock.
     */
    int code = db->get(db, transaction->handle, &wanted, &transaction->value, transaction->is_write ? DB_RMW : 0);
    value->data = transaction->value.data;
    value->size = transaction->value.size;
    return answer(code, "get");
}

static int berkeley_put(assay_transaction *transaction, assay_bytes key, assay_bytes value) {
    DBT put_key = given(key), put_value = given(value);
    DB *db = transaction->store->db;
    return answer(db->put(db, transaction->handle, &put_key, &put_value, 0), "put");
}

static int berkeley_delete(assay_transaction *transaction, assay_bytes key) {
    DBT wanted = given(key);
    DB *db = transaction->store->db;
    return answer(db->del(db, transaction->handle, &wanted, 0), "del");
}

static int order(const DBT *a, const DBT *b) {
    size_t shorter = a->size < b->size ? a->size : b->size;
    int difference = shorter == 0 ? 0 : memcmp(a->data, b->data, shorter);
    if (difference != 0) return difference;
    return a->size < b->size ? -1 : a->size > b->size;
}

static int copy(DBT *to, const assay_bytes *from) {
    if (from == NULL) return 0;
    *to = growing();
    to->data = malloc(from->size + 1);
    to->size = (u_int32_t)from->size;
    if (from->size > 0) memcpy(to->data, from->data, from->size);
    return 1;
}

static int berkeley_scan(
    assay_transaction *transaction, const assay_bytes *from, const assay_bytes *to, int backward, assay_cursor **out) {
    assay_cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL) return failed(ENOMEM, "scan");
    DB *db = transaction->store->db;
    int code = db->cursor(db, transaction->handle, &cursor->handle, 0);
    if (code != 0) {
        free(cursor);
        return failed(code, "cursor");
    }
    cursor->is_backward = backward;
    cursor->key = growing();
    cursor->value = growing();
    cursor->has_from = copy(&cursor->from, from);
    cursor->has_to = copy(&cursor->to, to);
    *out = cursor;
    return ASSAY_OK;
}

static int move(assay_cursor *cursor, u_int32_t how) {
    return cursor->handle->get(cursor->handle, &cursor->key, &cursor->value, how);
}

static int first(assay_cursor *cursor) {
    if (!cursor->has_from) return move(cursor, cursor->is_backward ? DB_LAST : DB_FIRST);
    /*
     * DB_SET_RANGE finds the first key that is not below the bound. It may reallocate the key's memory, so that has to
     * come from malloc.
     */
    cursor->key.data = malloc(cursor->from.size + 1);
    cursor->key.size = cursor->from.size;
    memcpy(cursor->key.data, cursor->from.data, cursor->from.size);
    int code = move(cursor, DB_SET_RANGE);
    if (!cursor->is_backward) return code;
    if (code == DB_NOTFOUND) return move(cursor, DB_LAST);
    return code == 0 && order(&cursor->key, &cursor->from) != 0 ? move(cursor, DB_PREV) : code;
}

static int berkeley_next(assay_cursor *cursor, assay_bytes *key, assay_bytes *value) {
    if (cursor->has_begun == 2) return ASSAY_NOT_FOUND;
    int code = cursor->has_begun ? move(cursor, cursor->is_backward ? DB_PREV : DB_NEXT) : first(cursor);
    cursor->has_begun = 1;
    if (code == 0 && cursor->has_to) {
        int place = order(&cursor->key, &cursor->to);
        if (cursor->is_backward ? place <= 0 : place >= 0) code = DB_NOTFOUND;
    }
    /* 2: the scan is at its end, and every further call says so. */
    if (code == DB_NOTFOUND) cursor->has_begun = 2;
    *key = (assay_bytes){cursor->key.data, cursor->key.size};
    *value = (assay_bytes){cursor->value.data, cursor->value.size};
    return answer(code, "cursor get");
}

static void berkeley_end_scan(assay_cursor *cursor) {
    cursor->handle->close(cursor->handle);
    free(cursor->key.data);
    free(cursor->value.data);
    free(cursor->from.data);
    free(cursor->to.data);
    free(cursor);
}

static const char *berkeley_error(const assay_store *store) {
    (void)store;
    return last_text;
}

static int berkeley_compact(assay_store *store) {
    int code = store->db->compact(store->db, NULL, NULL, NULL, NULL, DB_FREE_SPACE, NULL);
    if (code == 0) code = store->environment->txn_checkpoint(store->environment, 0, 0, DB_FORCE);
    return answer(code, "compact");
}

/* The open runs recovery first: DB->verify requires a file that needs none. */
static int berkeley_check(const char *directory) {
    assay_store *store = NULL;
    int status = berkeley_open(directory, ASSAY_FULL_DURABILITY, &store);
    if (status == ASSAY_OK) status = berkeley_close(store);
    if (status != ASSAY_OK) return status;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, data_file);
    DB *db = NULL;
    int code = db_create(&db, NULL, 0);
    if (code != 0) return failed(code, "check");
    db->set_errcall(db, listen);
    /* DB->verify destroys the handle, also when it fails. */
    return answer(db->verify(db, path, NULL, NULL, 0), "verify");
}

#define EVERY_CLASS "\ncache = 64 MiB\npage checksums = on\npage size = 512\nlog file = 1 MiB"

static const char *berkeley_settings(uint32_t durability) {
    switch (durability) {
    case ASSAY_FULL_DURABILITY: return "flush = at commit, synced" EVERY_CLASS;
    case ASSAY_PERIODIC_DURABILITY: return "flush = DB_TXN_WRITE_NOSYNC" EVERY_CLASS;
    case ASSAY_NO_DURABILITY: return "flush = DB_TXN_NOSYNC" EVERY_CLASS;
    default: return NULL;
    }
}

ASSAY_ENGINE_EXPORT const struct assay_engine *assay_engine(uint32_t abi) {
    static char version[32];
    static const struct assay_engine engine = {
        .abi = ASSAY_ENGINE_ABI, .size = sizeof(struct assay_engine), .name = "berkeleydb", .version = version,
        .capabilities = "persistent snapshots own-writes compaction checks",
        .promises =
            "durability | .. that no matter how the system or application fails, previously saved data is available "
            "the next time the application runs | Programmer's Reference, Why transactions?\n"
            "atomicity | Transactions guarantee that a group of changes are atomic | the same\n"
            "isolation serializable | Transactions ensure each thread of control sees all records as if all other "
            "transactions either completed before or after its transaction | the same",
        .files = "data data.db\nlog log.*\ndata __db.*",
        .allows_empty_key = 1, .threads = ASSAY_THREAD_PER_TRANSACTION, .settings = berkeley_settings,
        .open = berkeley_open, .close = berkeley_close, .begin = berkeley_begin, .get = berkeley_get,
        .put = berkeley_put, .delete_key = berkeley_delete, .scan = berkeley_scan, .next = berkeley_next,
        .end_scan = berkeley_end_scan, .commit = berkeley_commit, .abort = berkeley_abort,
        .last_error = berkeley_error, .compact = berkeley_compact, .check = berkeley_check,
    };
    int major, minor, patch;
    db_version(&major, &minor, &patch);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, patch);
    return abi == ASSAY_ENGINE_ABI ? &engine : NULL;
}
