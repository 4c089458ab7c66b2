// Rows in GDBM. MODE: plain; sync, which calls gdbm_sync after each row; calls, which writes by system calls and not
// through a map, so that a kill can come after each call. A block is one sector: eight rows fit in one bucket, and
// forty split it.
#include "rows.h"

#include <gdbm.h>

static GDBM_FILE store;
static bool syncs;

static void open_store(const char *directory, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/rows.gdbm", directory);
    syncs = mode && strcmp(mode, "sync") == 0;
    int flags = !mode ? GDBM_READER : strcmp(mode, "calls") == 0 ? GDBM_WRCREAT | GDBM_NOMMAP : GDBM_WRCREAT;
    store = gdbm_open(path, 512, flags, 0644, NULL);
    if (!store) fail("open", gdbm_strerror(gdbm_errno));
}

static datum datum_of(const char *row) {
    datum result = {(char *)row, (int)strlen(row)};
    return result;
}

static void put_row(const char *row) {
    if (gdbm_store(store, datum_of(row), datum_of(row), GDBM_INSERT)) fail("store", gdbm_strerror(gdbm_errno));
    if (syncs && gdbm_sync(store)) fail("sync", gdbm_strerror(gdbm_errno));
}

static const char *row_value(const char *row) {
    datum value = gdbm_fetch(store, datum_of(row));
    if (!value.dptr) {
        if (gdbm_errno != GDBM_ITEM_NOT_FOUND) fail("fetch", gdbm_strerror(gdbm_errno));
        return NULL;
    }
    const char *text = kept_value(value.dptr, (size_t)value.dsize);
    free(value.dptr);
    return text;
}

static void close_store(void) { gdbm_close(store); }

int main(int count, char **arguments) { return run(count, arguments); }
