/* RocksDB through its C interface: one database per process, a batch per transaction. */
#include "packed.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    options options;
};

static rocksdb_t *database;
static rocksdb_options_t *settings;
static rocksdb_writeoptions_t *writing;
static rocksdb_readoptions_t *reading;
static int users;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static void check(char *message) {
    if (message != NULL) fail("RocksDB: %s", message);
}

/* Read from the name of the library's file: the C interface has no function for the version. */
static const char *version(void) {
    static char text[64] = "unknown";
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *name = strstr(line, "/librocksdb.so.");
        if (name == NULL) continue;
        name += strlen("/librocksdb.so.");
        name[strcspn(name, "\n")] = 0;
        snprintf(text, sizeof text, "%.60s", name);
        break;
    }
    if (maps != NULL) fclose(maps);
    return text;
}

static void tune(void) {
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru((size_t)256 << 20);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_cache_destroy(cache);
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_data_block_index_type(
        table, rocksdb_block_based_table_data_block_index_type_binary_search_and_hash);
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75);
    rocksdb_options_set_block_based_table_factory(settings, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_set_write_buffer_size(settings, (size_t)128 << 20);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(settings, 1);
    rocksdb_options_set_bytes_per_sync(settings, 1 << 20);
}

static session *open_database(const char *directory, const options *options) {
    session *session = calloc(1, sizeof *session);
    if (session == NULL) fail("no memory");
    session->options = *options;
    pthread_mutex_lock(&opening);
    if (users++ == 0) {
        settings = rocksdb_options_create();
        rocksdb_options_set_create_if_missing(settings, 1);
        if (options->is_tuned) tune();
        writing = rocksdb_writeoptions_create();
        rocksdb_writeoptions_set_sync(writing, strcmp(options->durability, "full") == 0);
        rocksdb_writeoptions_disable_WAL(writing, strcmp(options->durability, "none") == 0);
        reading = rocksdb_readoptions_create();
        char *message = NULL;
        database = rocksdb_open(settings, directory, &message);
        check(message);
    }
    pthread_mutex_unlock(&opening);
    return session;
}

static void write_batch(rocksdb_writebatch_t *batch) {
    char *message = NULL;
    rocksdb_write(database, writing, batch, &message);
    check(message);
    rocksdb_writebatch_destroy(batch);
}

static void put(rocksdb_writebatch_t *batch, const people *rows, long row) {
    unsigned char key[packed_key_bytes], value[packed_room];
    packed_key(key, rows->first + row);
    size_t bytes = packed_value(value, rows, row);
    rocksdb_writebatch_put(batch, (char *)key, sizeof key, (char *)value, bytes);
}

/* The tables are known at compile time: nothing needs to be written. */
static void create(session *session) { (void)session; }

static void load(session *session, const people *rows) {
    (void)session;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    for (long row = 0; row < rows->count; row++) put(batch, rows, row);
    write_batch(batch);
}

static rocksdb_pinnableslice_t *get(rocksdb_readoptions_t *options, int64_t id) {
    unsigned char key[packed_key_bytes];
    char *message = NULL;
    packed_key(key, id);
    rocksdb_pinnableslice_t *slice = rocksdb_get_pinned(database, options, (char *)key, sizeof key, &message);
    check(message);
    return slice;
}

/* A put would overwrite a row with the same key. So the key is looked up first, which other engines do in an insert. */
static void insert_each(session *session, const people *rows) {
    (void)session;
    for (long row = 0; row < rows->count; row++) {
        if (get(reading, rows->first + row) != NULL) fail("row %lld is there", (long long)(rows->first + row));
        rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
        put(batch, rows, row);
        write_batch(batch);
    }
}

static int64_t age(rocksdb_pinnableslice_t *slice, int64_t id) {
    if (slice == NULL) fail("no row %lld", (long long)id);
    size_t bytes;
    const char *value = rocksdb_pinnableslice_value(slice, &bytes);
    int64_t age = packed_age(value, bytes);
    rocksdb_pinnableslice_destroy(slice);
    return age;
}

/* Without a snapshot in the options every read uses the newest version. */
static int64_t read_ages(session *session, const int64_t *keys, long count) {
    int is_batch = !session->options.is_snapshot_each && count > 1;
    rocksdb_readoptions_t *options = reading;
    const rocksdb_snapshot_t *snapshot = NULL;
    if (is_batch) {
        snapshot = rocksdb_create_snapshot(database);
        options = rocksdb_readoptions_create();
        rocksdb_readoptions_set_snapshot(options, snapshot);
    }
    int64_t sum = 0;
    for (long index = 0; index < count; index++) sum += age(get(options, keys[index]), keys[index]);
    if (is_batch) {
        rocksdb_readoptions_destroy(options);
        rocksdb_release_snapshot(database, snapshot);
    }
    return sum;
}

static int64_t scan(long *rows) {
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(database, reading);
    unsigned char first[packed_key_bytes];
    packed_key(first, INT64_MIN);
    int64_t sum = 0;
    *rows = 0;
    for (rocksdb_iter_seek(iterator, (char *)first, sizeof first); rocksdb_iter_valid(iterator);
         rocksdb_iter_next(iterator)) {
        size_t bytes;
        const char *value = rocksdb_iter_value(iterator, &bytes);
        sum += packed_age(value, bytes);
        ++*rows;
    }
    char *message = NULL;
    rocksdb_iter_get_error(iterator, &message);
    check(message);
    rocksdb_iter_destroy(iterator);
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
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    unsigned char key[packed_key_bytes], row[packed_room];
    for (long index = 0; index < count; index++) {
        rocksdb_pinnableslice_t *slice = get(reading, keys[index]);
        if (slice == NULL) fail("no row %lld", (long long)keys[index]);
        size_t bytes;
        const char *value = rocksdb_pinnableslice_value(slice, &bytes);
        memcpy(row, value, bytes);
        memcpy(row, &values[index], 8);
        packed_key(key, keys[index]);
        rocksdb_writebatch_put(batch, (char *)key, sizeof key, (char *)row, bytes);
        rocksdb_pinnableslice_destroy(slice);
    }
    write_batch(batch);
}

static void delete_rows(session *session, const int64_t *keys, long count) {
    (void)session;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    unsigned char key[packed_key_bytes];
    for (long index = 0; index < count; index++) {
        packed_key(key, keys[index]);
        rocksdb_writebatch_delete(batch, (char *)key, sizeof key);
    }
    write_batch(batch);
}

static void close_database(session *session) {
    pthread_mutex_lock(&opening);
    if (--users == 0) {
        char *message = NULL;
        rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
        rocksdb_flush(database, flush, &message);
        check(message);
        rocksdb_flushoptions_destroy(flush);
        rocksdb_close(database);
        rocksdb_readoptions_destroy(reading);
        rocksdb_writeoptions_destroy(writing);
        rocksdb_options_destroy(settings);
    }
    pthread_mutex_unlock(&opening);
    free(session);
}

int main(int argc, char **argv) {
    const engine engine = {"rocksdb", "rocksdb-tuned", version, open_database, create, load, insert_each, read_ages,
                           sum_ages, update_ages, delete_rows, count_rows, close_database};
    return control_main(argc, argv, &engine);
}
