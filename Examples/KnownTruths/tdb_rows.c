// Rows in tdb, each stored in a transaction. MODE: sync, or nosync, which opens with TDB_NOSYNC.
#include "rows.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <tdb.h>

static TDB_CONTEXT *store;

static void open_store(const char *directory, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/rows.tdb", directory);
    int flags = mode && strcmp(mode, "nosync") == 0 ? TDB_NOSYNC : TDB_DEFAULT;
    store = tdb_open(path, 0, flags, mode ? O_RDWR | O_CREAT : O_RDWR, 0644);
    if (!store) fail(path, "cannot be opened");
}

static TDB_DATA data_of(const char *row) {
    TDB_DATA data = {(unsigned char *)row, strlen(row)};
    return data;
}

static void put_row(const char *row) {
    if (tdb_transaction_start(store) || tdb_store(store, data_of(row), data_of(row), TDB_INSERT) ||
        tdb_transaction_commit(store))
        fail("store", tdb_errorstr(store));
}

static const char *row_value(const char *row) {
    TDB_DATA value = tdb_fetch(store, data_of(row));
    if (!value.dptr) {
        if (tdb_error(store) != TDB_ERR_NOEXIST) fail("fetch", tdb_errorstr(store));
        return NULL;
    }
    const char *text = kept_value(value.dptr, value.dsize);
    free(value.dptr);
    return text;
}

static void close_store(void) { tdb_close(store); }

int main(int count, char **arguments) { return run(count, arguments); }
