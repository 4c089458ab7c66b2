// leveldb_rows write DIR sync|plain: ten rows, each one write, printed once LevelDB has acknowledged it.
// leveldb_rows check DIR promised|whole: `whole` requires that the rows of the store are the first ones, unchanged and
// without gaps; `promised` requires every printed row in addition. A check passes if no row was printed.
#include <leveldb/c.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 10 };

static void end(const char *what, const char *error) {
    fprintf(stderr, "%s: %s\n", what, error);
    exit(1);
}

static leveldb_t *opened(const char *directory, bool creates) {
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, creates);
    leveldb_options_set_paranoid_checks(options, 1);
    char *error = NULL;
    leveldb_t *store = leveldb_open(options, directory, &error);
    if (error) end("open", error);
    leveldb_options_destroy(options);
    return store;
}

static void fill(char *key, size_t size, int row) { snprintf(key, size, "row %d", row); }

static int writes(const char *directory, bool syncs) {
    leveldb_t *store = opened(directory, true);
    leveldb_writeoptions_t *options = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(options, syncs);
    for (int row = 0; row < rows; row++) {
        char key[32], *error = NULL;
        fill(key, sizeof key, row);
        leveldb_put(store, options, key, strlen(key), key, strlen(key), &error);
        if (error) end("put", error);
        printf("%s\n", key);
        fflush(stdout);
    }
    leveldb_close(store);
    return 0;
}

static int promised(void) {
    const char *path = getenv("ASSAY_ACKNOWLEDGED");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) end("ASSAY_ACKNOWLEDGED", "cannot be read");
    int count = 0;
    char line[256];
    while (fgets(line, sizeof line, file)) count += strncmp(line, "row ", 4) == 0;
    fclose(file);
    return count;
}

static int checks(const char *directory, bool asksForPromised) {
    int expected = promised();
    // Before the first row is printed there may be no store to open.
    if (expected == 0) return 0;
    leveldb_t *store = opened(directory, !asksForPromised);
    leveldb_readoptions_t *options = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(options, 1);
    int found = 0;
    bool isWhole = true;
    for (int row = 0; row < rows; row++) {
        char key[32], *error = NULL;
        size_t size = 0;
        fill(key, sizeof key, row);
        char *value = leveldb_get(store, options, key, strlen(key), &size, &error);
        if (error) end("get", error);
        if (!value) continue;
        if (found != row || size != strlen(key) || memcmp(value, key, size) != 0) isWhole = false;
        found++;
        leveldb_free(value);
    }
    leveldb_close(store);
    return isWhole && (!asksForPromised || found >= expected) ? 0 : 1;
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "write") == 0)
        return writes(arguments[2], strcmp(arguments[3], "sync") == 0);
    if (count == 4 && strcmp(arguments[1], "check") == 0)
        return checks(arguments[2], strcmp(arguments[3], "promised") == 0);
    fprintf(stderr, "leveldb_rows write DIR sync|plain, or leveldb_rows check DIR promised|whole\n");
    return 64;
}
