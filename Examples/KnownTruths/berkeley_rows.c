// Rows in Berkeley DB, each put a transaction in an environment with a log. MODE: sync, nosync (DB_TXN_NOSYNC),
// writenosync (DB_TXN_WRITE_NOSYNC) or pages. A page is one sector, which is written whole or not at all; with MODE
// pages it has the default size of eight. The check opens with DB_RECOVER, as every program does after a crash.
#include "rows.h"

#include <db.h>

static DB_ENV *environment;
static DB *store;

static void must(int status, const char *what) {
    if (status) fail(what, db_strerror(status));
}

static void open_store(const char *directory, const char *mode) {
    must(db_env_create(&environment, 0), "environment");
    if (mode && strcmp(mode, "nosync") == 0) must(environment->set_flags(environment, DB_TXN_NOSYNC, 1), "nosync");
    if (mode && strcmp(mode, "writenosync") == 0)
        must(environment->set_flags(environment, DB_TXN_WRITE_NOSYNC, 1), "writenosync");
    u_int32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_LOCK | DB_INIT_MPOOL;
    must(environment->open(environment, directory, flags | (mode ? 0 : DB_RECOVER), 0644), "open the environment");
    must(db_create(&store, environment, 0), "create");
    if (mode && strcmp(mode, "pages") != 0) must(store->set_pagesize(store, 512), "pagesize");
    flags = mode ? DB_CREATE | DB_AUTO_COMMIT : DB_AUTO_COMMIT;
    must(store->open(store, NULL, "rows.db", NULL, DB_BTREE, flags, 0644), "open");
}

static DBT thing_of(const char *row) {
    DBT thing;
    memset(&thing, 0, sizeof thing);
    thing.data = (void *)row;
    thing.size = (u_int32_t)strlen(row);
    return thing;
}

static void put_row(const char *row) {
    DBT key = thing_of(row), value = thing_of(row);
    must(store->put(store, NULL, &key, &value, 0), "put");
}

static const char *row_value(const char *row) {
    DBT key = thing_of(row), value;
    memset(&value, 0, sizeof value);
    int status = store->get(store, NULL, &key, &value, 0);
    if (status == DB_NOTFOUND) return NULL;
    must(status, "get");
    return kept_value(value.data, value.size);
}

static void close_store(void) {
    must(store->close(store, 0), "close");
    must(environment->close(environment, 0), "close the environment");
}

int main(int count, char **arguments) { return run(count, arguments); }
