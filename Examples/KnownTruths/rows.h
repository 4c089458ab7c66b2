// Shared by the programs of this folder. Each keeps eight rows, or COUNT, in a store of one library:
//
//   NAME write DIR MODE [COUNT]    each row is one update, and is printed once the store has acknowledged it
//   NAME check DIR promised|whole  `whole`: the rows of the store are the first ones, unchanged and without gaps;
//                                  `promised`: in addition, every printed row is there
//
// A check passes if no row was printed. A program defines the four functions below, and its main calls `run`.
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { usual_rows = 8, most_rows = 40 };

// Opens the store in the directory; `mode` is NULL for the check.
static void open_store(const char *directory, const char *mode);
// Stores the row in an update of its own: key and value have the same text.
static void put_row(const char *row);
// The value of the row, valid until the next call; NULL if the store does not have the row.
static const char *row_value(const char *row);
static void close_store(void);

static inline void fail(const char *what, const char *error) {
    fprintf(stderr, "%s: %s\n", what, error);
    exit(1);
}

static inline const char *row_text(int row) {
    static char text[32];
    snprintf(text, sizeof text, "row %d", row);
    return text;
}

static inline int promised_rows(void) {
    const char *path = getenv("ASSAY_ACKNOWLEDGED");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) fail("ASSAY_ACKNOWLEDGED", "cannot be read");
    int count = 0;
    char line[256];
    while (fgets(line, sizeof line, file)) count += strncmp(line, "row ", 4) == 0;
    fclose(file);
    return count;
}

static inline int write_rows(const char *directory, const char *mode, int count) {
    open_store(directory, mode);
    for (int row = 0; row < count; row++) {
        put_row(row_text(row));
        printf("%s\n", row_text(row));
        fflush(stdout);
    }
    close_store();
    return 0;
}

static inline int check_rows(const char *directory, bool asks_for_promised) {
    int promised = promised_rows();
    // Before the first row is printed there may be no store to open.
    if (promised == 0) return 0;
    open_store(directory, NULL);
    int found = 0;
    bool is_whole = true;
    for (int row = 0; row < most_rows; row++) {
        const char *value = row_value(row_text(row));
        if (!value) continue;
        if (found != row || strcmp(value, row_text(row)) != 0) is_whole = false;
        found++;
    }
    close_store();
    return is_whole && (!asks_for_promised || found >= promised) ? 0 : 1;
}

static inline int run(int count, char **arguments) {
    int rows = count == 5 ? atoi(arguments[4]) : usual_rows;
    if ((count == 4 || count == 5) && strcmp(arguments[1], "write") == 0 && rows > 0 && rows <= most_rows)
        return write_rows(arguments[2], arguments[3], rows);
    if (count == 4 && strcmp(arguments[1], "check") == 0)
        return check_rows(arguments[2], strcmp(arguments[3], "promised") == 0);
    fprintf(stderr, "%s write DIR MODE [COUNT], or %s check DIR promised|whole\n", arguments[0], arguments[0]);
    return 64;
}

// Copies a value that has no terminating zero into the buffer that `row_value` returns.
static inline const char *kept_value(const void *bytes, size_t size) {
    static char text[64];
    if (size >= sizeof text) return "";
    memcpy(text, bytes, size);
    text[size] = 0;
    return text;
}
