// Rows in LMDB. MODE is plain or the flag of mdb_env_open: nosync, nometasync, writemap or mapasync.
#include "rows.h"

#include <lmdb.h>

static MDB_env *environment;
static MDB_dbi rows;

static void must(int status, const char *what) {
    if (status) fail(what, mdb_strerror(status));
}

static unsigned flags_of(const char *mode) {
    if (!mode || strcmp(mode, "plain") == 0) return 0;
    if (strcmp(mode, "nosync") == 0) return MDB_NOSYNC;
    if (strcmp(mode, "nometasync") == 0) return MDB_NOMETASYNC;
    if (strcmp(mode, "writemap") == 0) return MDB_WRITEMAP;
    if (strcmp(mode, "mapasync") == 0) return MDB_WRITEMAP | MDB_MAPASYNC;
    fail(mode, "no such mode");
    return 0;
}

static void open_store(const char *directory, const char *mode) {
    must(mdb_env_create(&environment), "create");
    // Small, because under MDB_WRITEMAP the file has the size of the map from the start.
    must(mdb_env_set_mapsize(environment, 256 << 10), "mapsize");
    must(mdb_env_open(environment, directory, flags_of(mode), 0644), "open");
    MDB_txn *transaction;
    must(mdb_txn_begin(environment, NULL, mode ? 0 : MDB_RDONLY, &transaction), "begin");
    must(mdb_dbi_open(transaction, NULL, 0, &rows), "dbi");
    must(mdb_txn_commit(transaction), "commit");
}

static void put_row(const char *row) {
    MDB_val value = {strlen(row), (void *)row};
    MDB_val key = value;
    MDB_txn *transaction;
    must(mdb_txn_begin(environment, NULL, 0, &transaction), "begin");
    must(mdb_put(transaction, rows, &key, &value, 0), "put");
    must(mdb_txn_commit(transaction), "commit");
}

static const char *row_value(const char *row) {
    MDB_val key = {strlen(row), (void *)row}, value;
    MDB_txn *transaction;
    must(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction), "begin");
    int status = mdb_get(transaction, rows, &key, &value);
    const char *text = status ? NULL : kept_value(value.mv_data, value.mv_size);
    mdb_txn_abort(transaction);
    if (status != MDB_NOTFOUND) must(status, "get");
    return text;
}

static void close_store(void) { mdb_env_close(environment); }

int main(int count, char **arguments) { return run(count, arguments); }
