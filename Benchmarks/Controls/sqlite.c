/* SQLite: prepared statements, a connection per thread, write-ahead log. */
#include "control.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
    sqlite3 *handle;
    sqlite3_stmt *begin, *begin_read, *commit, *insert, *read, *update, *delete_row, *delete_links;
    options options;
    long autocheckpoint;
};

/* Like an application's single writer queue: a connection asks for the write lock when no other one has it. */
static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER;

static void check(session *session, int status) {
    if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) {
        fail("SQLite error %d: %s", status, sqlite3_errmsg(session->handle));
    }
}

static void run(session *session, const char *sql) { check(session, sqlite3_exec(session->handle, sql, NULL, NULL, NULL)); }

static sqlite3_stmt *prepare(session *session, sqlite3_stmt **place, const char *sql) {
    if (*place == NULL) {
        check(session, sqlite3_prepare_v3(session->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, place, NULL));
    }
    return *place;
}

static void finish(session *session, sqlite3_stmt *statement) {
    check(session, sqlite3_step(statement));
    sqlite3_reset(statement);
}

static const char *version(void) { return sqlite3_libversion(); }

static session *open_database(const char *directory, const options *options) {
    session *session = calloc(1, sizeof *session);
    if (session == NULL) fail("no memory");
    session->options = *options;
    session->autocheckpoint = options->autocheckpoint > 0 ? options->autocheckpoint : options->is_tuned ? 20000 : 1000;
    char path[4096];
    snprintf(path, sizeof path, "%s/data", directory);
    int is_new = access(path, F_OK) != 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(session, sqlite3_open_v2(path, &session->handle, flags, NULL));
    sqlite3_busy_timeout(session->handle, 10000);
    /* The file contains the journal mode; FULL is SQLite's default. */
    if (is_new) run(session, "PRAGMA journal_mode=WAL");
    if (strcmp(options->durability, "periodic") == 0) run(session, "PRAGMA synchronous=NORMAL");
    if (strcmp(options->durability, "none") == 0) run(session, "PRAGMA synchronous=OFF");
    if (session->autocheckpoint != 1000) sqlite3_wal_autocheckpoint(session->handle, (int)session->autocheckpoint);
    if (options->is_tuned) run(session, "PRAGMA cache_size=-262144; PRAGMA mmap_size=2147418112");
    return session;
}

static void begin(session *session) {
    if (!session->options.is_busy) pthread_mutex_lock(&writer);
    sqlite3_stmt *statement = prepare(session, &session->begin, "BEGIN IMMEDIATE");
    int status;
    for (int attempt = 0; (status = sqlite3_step(statement)) == SQLITE_BUSY && attempt < 6; attempt++) {
        sqlite3_reset(statement);
    }
    check(session, status);
    sqlite3_reset(statement);
}

static void commit(session *session) {
    finish(session, prepare(session, &session->commit, "COMMIT"));
    if (!session->options.is_busy) pthread_mutex_unlock(&writer);
}

static void make_tables(session *session) {
    run(session, "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, "
                 "score REAL NOT NULL)");
    run(session, "CREATE TABLE Dog (row_index INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL)");
    run(session, "CREATE TABLE Person_dogs (owner INTEGER NOT NULL, place INTEGER NOT NULL, "
                 "target INTEGER NOT NULL REFERENCES Dog, PRIMARY KEY (owner, place)) WITHOUT ROWID");
    run(session, "CREATE INDEX Person_dogs_by_target ON Person_dogs (target)");
}

static void create(session *session) {
    begin(session);
    make_tables(session);
    commit(session);
}

static void insert(session *session, const people *rows, long row) {
    sqlite3_stmt *statement =
        prepare(session, &session->insert, "INSERT INTO Person (id, name, age, score) VALUES (?, ?, ?, ?)");
    size_t length;
    const char *name = people_name(rows, row, &length);
    sqlite3_bind_int64(statement, 1, rows->first + row);
    sqlite3_bind_text(statement, 2, name, (int)length, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, rows->ages[row]);
    sqlite3_bind_double(statement, 4, rows->scores[row]);
    finish(session, statement);
}

/*
 * One transaction, acknowledged once it is durable in the log: the checkpoint is left to the next transaction or the
 * close.
 */
static void load(session *session, const people *rows) {
    sqlite3_wal_autocheckpoint(session->handle, 0);
    begin(session);
    make_tables(session);
    for (long row = 0; row < rows->count; row++) insert(session, rows, row);
    commit(session);
    sqlite3_wal_autocheckpoint(session->handle, (int)session->autocheckpoint);
}

static void insert_each(session *session, const people *rows) {
    for (long row = 0; row < rows->count; row++) {
        begin(session);
        insert(session, rows, row);
        commit(session);
    }
}

static int64_t read_ages(session *session, const int64_t *keys, long count) {
    sqlite3_stmt *statement = prepare(session, &session->read, "SELECT age FROM Person WHERE id = ?");
    int is_batch = !session->options.is_snapshot_each && count > 1;
    if (is_batch) finish(session, prepare(session, &session->begin_read, "BEGIN"));
    int64_t sum = 0;
    for (long index = 0; index < count; index++) {
        sqlite3_bind_int64(statement, 1, keys[index]);
        int status = sqlite3_step(statement);
        if (status != SQLITE_ROW) fail("no row %lld", (long long)keys[index]);
        sum += sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    if (is_batch) finish(session, prepare(session, &session->commit, "COMMIT"));
    return sum;
}

static int64_t single(session *session, const char *sql) {
    sqlite3_stmt *statement = NULL;
    prepare(session, &statement, sql);
    check(session, sqlite3_step(statement));
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int64_t sum_ages(session *session) { return single(session, "SELECT sum(age) FROM Person"); }

static long count_rows(session *session) { return (long)single(session, "SELECT count(*) FROM Person"); }

static void update_ages(session *session, const int64_t *keys, const int64_t *values, long count) {
    sqlite3_stmt *statement = prepare(session, &session->update, "UPDATE Person SET age = ? WHERE id = ?");
    begin(session);
    for (long index = 0; index < count; index++) {
        sqlite3_bind_int64(statement, 1, values[index]);
        sqlite3_bind_int64(statement, 2, keys[index]);
        finish(session, statement);
    }
    commit(session);
}

static void delete_rows(session *session, const int64_t *keys, long count) {
    sqlite3_stmt *row = prepare(session, &session->delete_row, "DELETE FROM Person WHERE id = ?");
    sqlite3_stmt *links = prepare(session, &session->delete_links, "DELETE FROM Person_dogs WHERE owner = ?");
    sqlite3_wal_autocheckpoint(session->handle, 0);
    begin(session);
    for (long index = 0; index < count; index++) {
        sqlite3_bind_int64(row, 1, keys[index]);
        finish(session, row);
        sqlite3_bind_int64(links, 1, keys[index]);
        finish(session, links);
    }
    commit(session);
    sqlite3_wal_autocheckpoint(session->handle, (int)session->autocheckpoint);
}

static void close_database(session *session) {
    sqlite3_stmt *statements[] = {session->begin, session->begin_read, session->commit, session->insert, session->read,
                                  session->update, session->delete_row, session->delete_links};
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) sqlite3_finalize(statements[index]);
    check(session, sqlite3_close(session->handle));
    free(session);
}

int main(int argc, char **argv) {
    const engine engine = {"sqlite", "sqlite-tuned", version, open_database, create, load, insert_each, read_ages,
                           sum_ages, update_ages, delete_rows, count_rows, close_database};
    return control_main(argc, argv, &engine);
}
