/* LMDB: one environment, one database, keys in order; tuned, a table's database of integer keys, as the adapter has. */
#include "packed.h"

#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    options options;
};

/* An environment may be opened once per process. */
static MDB_env *environment;
static MDB_dbi database;
static int has_integer_keys;
static int users;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static void check(int status) {
    if (status != 0) fail("LMDB error %d: %s", status, mdb_strerror(status));
}

static const char *version(void) {
    static char text[32];
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

static MDB_txn *begin(unsigned flags) {
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, NULL, flags, &transaction));
    return transaction;
}

static session *open_database(const char *directory, const options *options) {
    session *session = calloc(1, sizeof *session);
    if (session == NULL) fail("no memory");
    session->options = *options;
    pthread_mutex_lock(&opening);
    if (users++ == 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/data", directory);
        unsigned flags = MDB_NOSUBDIR | MDB_NOTLS;
        if (strcmp(options->durability, "periodic") == 0) flags |= MDB_NOMETASYNC;
        if (strcmp(options->durability, "none") == 0) flags |= MDB_NOSYNC;
        if (options->is_tuned) flags |= MDB_NORDAHEAD | MDB_NOMEMINIT;
        check(mdb_env_create(&environment));
        check(mdb_env_set_mapsize(environment, (size_t)16 << 30));
        check(mdb_env_set_maxreaders(environment, 512));
        has_integer_keys = options->is_tuned;
        if (has_integer_keys) check(mdb_env_set_maxdbs(environment, 64));
        check(mdb_env_open(environment, path, flags, 0644));
        MDB_txn *transaction = begin(MDB_RDONLY);
        check(mdb_dbi_open(transaction, NULL, 0, &database));
        if (has_integer_keys) {
            // A new file has no such table before `create` or `load` makes it.
            int status = mdb_dbi_open(transaction, "table-1", MDB_INTEGERKEY, &database);
            if (status == MDB_NOTFOUND) database = 0;
            else check(status);
        }
        check(mdb_txn_commit(transaction));
    }
    pthread_mutex_unlock(&opening);
    return session;
}

/* Tuned: 8 bytes in native order, for MDB_INTEGERKEY. */
static MDB_val key_of(int64_t id, unsigned char key[packed_key_bytes]) {
    if (has_integer_keys) {
        uint64_t ordered = (uint64_t)id ^ (1ULL << 63);
        memcpy(key, &ordered, sizeof ordered);
        return (MDB_val){sizeof ordered, key};
    }
    packed_key(key, id);
    return (MDB_val){packed_key_bytes, key};
}

static void make_table(MDB_txn *transaction) {
    if (database == 0) check(mdb_dbi_open(transaction, "table-1", MDB_INTEGERKEY | MDB_CREATE, &database));
}

static void put(MDB_txn *transaction, const people *rows, long row, unsigned flags) {
    unsigned char key[packed_key_bytes], value[packed_room];
    MDB_val key_bytes = key_of(rows->first + row, key), value_bytes = {packed_value(value, rows, row), value};
    check(mdb_put(transaction, database, &key_bytes, &value_bytes, flags));
}

/* Without integer keys nothing has to be written: the tables are known at compile time. */
static void create(session *session) {
    (void)session;
    if (!has_integer_keys) return;
    MDB_txn *transaction = begin(0);
    make_table(transaction);
    check(mdb_txn_commit(transaction));
}

static void load(session *session, const people *rows) {
    (void)session;
    MDB_txn *transaction = begin(0);
    make_table(transaction);
    for (long row = 0; row < rows->count; row++) put(transaction, rows, row, MDB_APPEND);
    check(mdb_txn_commit(transaction));
}

static void insert_each(session *session, const people *rows) {
    (void)session;
    for (long row = 0; row < rows->count; row++) {
        MDB_txn *transaction = begin(0);
        put(transaction, rows, row, MDB_NOOVERWRITE);
        check(mdb_txn_commit(transaction));
    }
}

static int64_t read_ages(session *session, const int64_t *keys, long count) {
    MDB_txn *transaction = begin(MDB_RDONLY);
    unsigned char key[packed_key_bytes];
    int64_t sum = 0;
    for (long index = 0; index < count; index++) {
        if (session->options.is_snapshot_each && index > 0) {
            mdb_txn_reset(transaction);
            check(mdb_txn_renew(transaction));
        }
        MDB_val key_bytes = key_of(keys[index], key), value;
        check(mdb_get(transaction, database, &key_bytes, &value));
        sum += packed_age(value.mv_data, value.mv_size);
    }
    mdb_txn_abort(transaction);
    return sum;
}

static int64_t scan(long *rows) {
    MDB_txn *transaction = begin(MDB_RDONLY);
    MDB_cursor *cursor;
    check(mdb_cursor_open(transaction, database, &cursor));
    unsigned char first[packed_key_bytes];
    MDB_val key = key_of(INT64_MIN, first), value;
    int64_t sum = 0;
    *rows = 0;
    int status = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (status == 0) {
        sum += packed_age(value.mv_data, value.mv_size);
        ++*rows;
        status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    if (status != MDB_NOTFOUND) check(status);
    mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
    return sum;
}

static int64_t sum_ages(session *session) {
    (void)session;
    long rows;
    return scan(&rows);
}

static long count_rows(session *session) {
    (void)session;
    long rows;
    scan(&rows);
    return rows;
}

static void update_ages(session *session, const int64_t *keys, const int64_t *values, long count) {
    (void)session;
    MDB_txn *transaction = begin(0);
    unsigned char key[packed_key_bytes], row[packed_room];
    for (long index = 0; index < count; index++) {
        MDB_val key_bytes = key_of(keys[index], key), value;
        check(mdb_get(transaction, database, &key_bytes, &value));
        memcpy(row, value.mv_data, value.mv_size);
        memcpy(row, &values[index], 8);
        value.mv_data = row;
        check(mdb_put(transaction, database, &key_bytes, &value, 0));
    }
    check(mdb_txn_commit(transaction));
}

static void delete_rows(session *session, const int64_t *keys, long count) {
    (void)session;
    MDB_txn *transaction = begin(0);
    unsigned char key[packed_key_bytes];
    for (long index = 0; index < count; index++) {
        MDB_val key_bytes = key_of(keys[index], key);
        check(mdb_del(transaction, database, &key_bytes, NULL));
    }
    check(mdb_txn_commit(transaction));
}

static void close_database(session *session) {
    pthread_mutex_lock(&opening);
    if (--users == 0) mdb_env_close(environment);
    pthread_mutex_unlock(&opening);
    free(session);
}

int main(int argc, char **argv) {
    const engine engine = {"lmdb", "lmdb-tuned", version, open_database, create, load, insert_each, read_ages,
                           sum_ages, update_ages, delete_rows, count_rows, close_database};
    return control_main(argc, argv, &engine);
}
