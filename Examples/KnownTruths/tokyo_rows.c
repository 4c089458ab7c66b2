// Rows in a hash database of Tokyo Cabinet, each in a transaction. MODE: plain, or sync, which opens with HDBOTSYNC.
#include "rows.h"

#include <stdint.h>
#include <tchdb.h>
#include <tcutil.h>

static TCHDB *store;

static void must(bool is_done, const char *what) {
    if (!is_done) fail(what, tchdberrmsg(tchdbecode(store)));
}

static void open_store(const char *directory, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/rows.tch", directory);
    store = tchdbnew();
    // Few buckets: a table for the default number of them would make the file a megabyte long.
    must(tchdbtune(store, 31, 4, 4, 0), "tune");
    int flags = HDBOWRITER | (mode ? HDBOCREAT : 0) | (mode && strcmp(mode, "sync") == 0 ? HDBOTSYNC : 0);
    must(tchdbopen(store, path, flags), "open");
}

static void put_row(const char *row) {
    must(tchdbtranbegin(store), "begin");
    must(tchdbput2(store, row, row), "put");
    must(tchdbtrancommit(store), "commit");
}

static const char *row_value(const char *row) {
    char *value = tchdbget2(store, row);
    if (!value) {
        must(tchdbecode(store) == TCENOREC, "get");
        return NULL;
    }
    const char *text = kept_value(value, strlen(value));
    free(value);
    return text;
}

static void close_store(void) {
    must(tchdbclose(store), "close");
    tchdbdel(store);
}

int main(int count, char **arguments) { return run(count, arguments); }
