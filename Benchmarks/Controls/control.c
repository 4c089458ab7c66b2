#define _GNU_SOURCE
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Data */

static uint64_t split_mix(uint64_t value) {
    uint64_t x = value + 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

int64_t people_age(int64_t id) { return (int64_t)(split_mix((uint64_t)id) % 100); }

static double people_score(int64_t id) { return (double)(split_mix((uint64_t)id ^ 0x5555) % 100000) / 1000; }

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) fail("no memory for %zu bytes", bytes);
    return memory;
}

people people_make(int64_t first, long count) {
    people rows = {first, count, allocate((size_t)count * 28), allocate((size_t)count * sizeof(size_t)),
                   allocate((size_t)count * sizeof(int64_t)), allocate((size_t)count * sizeof(double))};
    size_t end = 0;
    for (long row = 0; row < count; row++) {
        end += (size_t)snprintf(rows.names + end, 28, "person-%06lld", (long long)(first + row));
        rows.name_ends[row] = end;
        rows.ages[row] = people_age(first + row);
        rows.scores[row] = people_score(first + row);
    }
    return rows;
}

void people_free(people *rows) {
    free(rows->names);
    free(rows->name_ends);
    free(rows->ages);
    free(rows->scores);
}

const char *people_name(const people *rows, long row, size_t *length) {
    size_t start = row == 0 ? 0 : rows->name_ends[row - 1];
    *length = rows->name_ends[row] - start;
    return rows->names + start;
}

static uint64_t random_state;

static int64_t random_below(int64_t bound) {
    uint64_t value = split_mix(random_state);
    random_state += 0x9E3779B97F4A7C15ULL;
    return (int64_t)(((unsigned __int128)value * (uint64_t)bound) >> 64);
}

/* Clock, errors */

uint64_t now_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static const char *program = "control";

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void expect(const char *what, int64_t expected, int64_t got) {
    if (expected != got) fail("%s: expected %lld, got %lld", what, (long long)expected, (long long)got);
}

/* Files */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_directory(const char *path) {
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) {
        fail("cannot remove %s: %s", path, strerror(errno));
    }
}

static void make_directory(const char *path) {
    if (mkdir(path, 0755) != 0 && errno != EEXIST) fail("cannot make %s: %s", path, strerror(errno));
}

static char *joined(const char *folder, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) fail("no memory");
    return path;
}

static const char *copy_source, *copy_target;

/* Databases are flat directories, or one file. */
static int copy_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)place;
    char *target = joined(copy_target, path + strlen(copy_source));
    if (kind == FTW_D) {
        make_directory(target);
    } else {
        int from = open(path, O_RDONLY), to = open(target, O_CREAT | O_TRUNC | O_WRONLY, 0644);
        if (from < 0 || to < 0) fail("cannot copy %s: %s", path, strerror(errno));
        for (off_t left = status->st_size; left > 0;) {
            ssize_t done = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
            if (done <= 0) fail("cannot copy %s: %s", path, strerror(errno));
            left -= done;
        }
        /* Assay syncs its copies of fixtures before a case begins, too. */
        if (fsync(to) != 0) fail("cannot sync %s: %s", target, strerror(errno));
        close(from);
        close(to);
    }
    free(target);
    return 0;
}

static void copy_directory(const char *source, const char *target) {
    remove_directory(target);
    copy_source = source;
    copy_target = target;
    if (nftw(source, copy_entry, 16, FTW_PHYS) != 0) fail("cannot copy %s", source);
}

/* Command line */

static struct {
    const char *workload, *directory;
    long rows, commits, threads, transactions, updates, rounds;
    uint64_t seed;
    options options;
} request = {.rows = 1000000, .commits = 2000, .threads = 4, .transactions = 200, .updates = 1000, .rounds = 3,
             .seed = 1, .options = {.durability = "full"}};

static const char *usage =
    "WORKLOAD --directory DIR [--rows N] [--commits N] [--threads N] [--transactions N] [--updates N] [--rounds N]\n"
    "  [--seed S] [--tuned] [--durability full|periodic|none] [--file empty|prepared] [--snapshot batch|each]\n"
    "  [--writers serialized|busy] [--autocheckpoint PAGES]\n"
    "workloads: bulk-insert commit commit-threads point-read column-sum update-batch delete-half prepare open";

static int is_prepared;

static long number(const char *name, const char *text) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || errno != 0 || value < 0) {
        fprintf(stderr, "%s: %s needs a whole number from 0, not %s\n", program, name, text);
        exit(64);
    }
    return value;
}

static int choice(const char *name, const char *text, const char *first, const char *second) {
    if (strcmp(text, first) == 0) return 0;
    if (strcmp(text, second) == 0) return 1;
    fprintf(stderr, "%s: %s is %s or %s, not %s\n", program, name, first, second, text);
    exit(64);
}

static void read_option(const char *name, const char *value) {
    if (strcmp(name, "--directory") == 0) request.directory = value;
    else if (strcmp(name, "--rows") == 0) request.rows = number(name, value);
    else if (strcmp(name, "--commits") == 0) request.commits = number(name, value);
    else if (strcmp(name, "--threads") == 0) request.threads = number(name, value);
    else if (strcmp(name, "--transactions") == 0) request.transactions = number(name, value);
    else if (strcmp(name, "--updates") == 0) request.updates = number(name, value);
    else if (strcmp(name, "--rounds") == 0) request.rounds = number(name, value);
    else if (strcmp(name, "--seed") == 0) request.seed = (uint64_t)number(name, value);
    else if (strcmp(name, "--durability") == 0) request.options.durability = value;
    else if (strcmp(name, "--file") == 0) is_prepared = choice(name, value, "empty", "prepared");
    else if (strcmp(name, "--snapshot") == 0) request.options.is_snapshot_each = choice(name, value, "batch", "each");
    else if (strcmp(name, "--writers") == 0) request.options.is_busy = choice(name, value, "serialized", "busy");
    else if (strcmp(name, "--autocheckpoint") == 0) request.options.autocheckpoint = number(name, value);
    else {
        fprintf(stderr, "%s: unknown option %s\n%s %s\n", program, name, program, usage);
        exit(64);
    }
}

static void read_arguments(int argc, char **argv) {
    program = argv[0];
    for (int index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--tuned") == 0) request.options.is_tuned = 1;
        else if (strncmp(argv[index], "--", 2) != 0 && request.workload == NULL) request.workload = argv[index];
        else if (index + 1 < argc) {
            read_option(argv[index], argv[index + 1]);
            index++;
        } else {
            fprintf(stderr, "%s: %s needs a value\n", program, argv[index]);
            exit(64);
        }
    }
    if (request.workload == NULL || request.directory == NULL) {
        fprintf(stderr, "%s %s\n", program, usage);
        exit(64);
    }
}

static void report(const engine *engine, const char *metric, double value, long operations) {
    printf("{\"engine\":\"%s\",\"version\":\"%s\",\"workload\":\"%s\",\"metric\":\"%s\",\"value\":%.6g,\"operations\":%ld",
           request.options.is_tuned ? engine->tuned_name : engine->name, engine->version(), request.workload, metric,
           value, operations);
}

static void report_end(void) { printf("}\n"); }

/* Databases */

/* A process of its own loads the rows, as for the harness's fixtures, so that the measured one has no warm cache. */
static char *prepared(const engine *engine, int is_new) {
    char name[64];
    snprintf(name, sizeof name, "prepared-%s-%ld", request.options.is_tuned ? engine->tuned_name : engine->name,
             request.rows);
    char *path = joined(request.directory, name);
    char *done = joined(path, "../");
    free(done);
    if (asprintf(&done, "%s.done", path) < 0) fail("no memory");
    if (is_new) unlink(done);
    if (access(done, F_OK) != 0) {
        remove_directory(path);
        make_directory(path);
        pid_t child = fork();
        if (child < 0) fail("cannot fork: %s", strerror(errno));
        if (child == 0) {
            people rows = people_make(0, request.rows);
            session *session = engine->open(path, &request.options);
            engine->load(session, &rows);
            expect("prepared rows", request.rows, engine->count_rows(session));
            engine->close(session);
            exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0) fail("the database could not be prepared");
        int marker = open(done, O_CREAT | O_WRONLY, 0644);
        if (marker < 0) fail("cannot write %s", done);
        close(marker);
        sync();
    }
    free(done);
    return path;
}

static char *work_directory(void) {
    char *path = joined(request.directory, "work");
    remove_directory(path);
    return path;
}

static char *prepared_copy(const engine *engine, int is_new) {
    char *source = prepared(engine, is_new), *target = work_directory();
    copy_directory(source, target);
    free(source);
    return target;
}

/* Workloads */

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values, long count) {
    qsort(values, (size_t)count, sizeof(double), ascending);
    return values[count / 2];
}

static void bulk_insert(const engine *engine) {
    people rows = people_make(0, request.rows);
    int64_t expected = 0;
    for (long row = 0; row < rows.count; row++) expected += rows.ages[row];
    long rounds = request.rounds > 0 ? request.rounds : 1;
    double *acknowledged = allocate((size_t)rounds * sizeof(double)), *closed = allocate((size_t)rounds * sizeof(double));
    for (long round = 0; round < rounds; round++) {
        char *path = work_directory();
        make_directory(path);
        session *session = engine->open(path, &request.options);
        uint64_t start = now_nanoseconds();
        engine->load(session, &rows);
        acknowledged[round] = (double)(now_nanoseconds() - start) / 1e9;
        engine->close(session);
        closed[round] = (double)(now_nanoseconds() - start) / 1e9;
        session = engine->open(path, &request.options);
        expect("rows", rows.count, engine->count_rows(session));
        expect("sum of age", expected, engine->sum_ages(session));
        engine->close(session);
        free(path);
    }
    report(engine, "rows_per_second", (double)rows.count / median(acknowledged, rounds), rows.count);
    printf(",\"with_close\":%.6g", (double)rows.count / median(closed, rounds));
    report_end();
}

static void check_inserted(session *session, const engine *engine, int64_t first, long count, long total) {
    int64_t expected = 0, *keys = allocate((size_t)count * sizeof(int64_t));
    for (long row = 0; row < count; row++) {
        keys[row] = first + row;
        expected += people_age(first + row);
    }
    expect("rows", total, engine->count_rows(session));
    expect("sum of what was inserted", expected, engine->read_ages(session, keys, count));
    free(keys);
}

static void commit(const engine *engine) {
    long base = is_prepared ? request.rows : 0, count = request.commits;
    char *path = is_prepared ? prepared_copy(engine, 0) : work_directory();
    make_directory(path);
    people rows = people_make(base, count);
    long warm = count / 20 < 1 ? 1 : count / 20 > 1000 ? 1000 : count / 20;
    people warm_up = people_make(base + count, warm);
    session *session = engine->open(path, &request.options);
    if (!is_prepared) engine->create(session);
    engine->insert_each(session, &warm_up);
    uint64_t start = now_nanoseconds();
    engine->insert_each(session, &rows);
    double seconds = (double)(now_nanoseconds() - start) / 1e9;
    engine->close(session);
    session = engine->open(path, &request.options);
    check_inserted(session, engine, base, count, base + count + warm);
    engine->close(session);
    report(engine, "commits_per_second", (double)count / seconds, count);
    report_end();
}

typedef struct {
    const engine *engine;
    const char *path;
    people rows;
    pthread_barrier_t *line;
    uint64_t start, end;
} lane;

static void *write_lane(void *argument) {
    lane *lane = argument;
    session *session = lane->engine->open(lane->path, &request.options);
    pthread_barrier_wait(lane->line);
    lane->start = now_nanoseconds();
    lane->engine->insert_each(session, &lane->rows);
    lane->end = now_nanoseconds();
    lane->engine->close(session);
    return NULL;
}

static void commit_threads(const engine *engine) {
    long threads = request.threads > 0 ? request.threads : 1, each = request.commits / threads, base = request.rows;
    char *path = prepared_copy(engine, 0);
    lane *lanes = allocate((size_t)threads * sizeof(lane));
    pthread_t *handles = allocate((size_t)threads * sizeof(pthread_t));
    pthread_barrier_t line;
    pthread_barrier_init(&line, NULL, (unsigned)threads);
    for (long index = 0; index < threads; index++) {
        lanes[index] = (lane){engine, path, people_make(base + index * each, each), &line, 0, 0};
        if (pthread_create(&handles[index], NULL, write_lane, &lanes[index]) != 0) fail("no thread");
    }
    uint64_t start = UINT64_MAX, end = 0;
    for (long index = 0; index < threads; index++) {
        pthread_join(handles[index], NULL);
        if (lanes[index].start < start) start = lanes[index].start;
        if (lanes[index].end > end) end = lanes[index].end;
    }
    session *session = engine->open(path, &request.options);
    check_inserted(session, engine, base, threads * each, base + threads * each);
    engine->close(session);
    report(engine, "commits_per_second", (double)(threads * each) / ((double)(end - start) / 1e9), threads * each);
    report_end();
}

/* Measures as the harness does: doubles the batch until one takes a millisecond or has `maximum` operations, and then
 * runs batches of that size, up to `most` within a second, three at the least. A batch of 50 ms counts even before
 * that. Returns the median time of an operation in nanoseconds. `kind` 0 reads rows, 1 sums the column. */
static double batches(const engine *engine, session *session, int kind, long first, long maximum, long most,
                      long *operations) {
    int64_t *keys = allocate((size_t)maximum * sizeof(int64_t));
    double nanoseconds[64];
    long size = first, count = 0;
    uint64_t limit = 0;
    while (1) {
        int64_t expected = 0, got = 0;
        if (kind == 0) {
            for (long index = 0; index < size; index++) {
                keys[index] = random_below(request.rows);
                expected += people_age(keys[index]);
            }
        }
        uint64_t start = now_nanoseconds();
        if (kind == 0) got = engine->read_ages(session, keys, size);
        else for (long pass = 0; pass < size; pass++) got = engine->sum_ages(session);
        uint64_t elapsed = now_nanoseconds() - start;
        if (kind == 0) expect("sum of what was read", expected, got);
        int is_measured = limit != 0;
        if (is_measured || elapsed >= 50000000) nanoseconds[count++] = (double)elapsed / (double)size;
        if (!is_measured && elapsed < 1000000 && size < maximum) {
            size = size * 2 < maximum ? size * 2 : maximum;
            continue;
        }
        if (limit == 0) limit = now_nanoseconds() + 1000000000ULL;
        if (count >= most || (count >= 3 && now_nanoseconds() > limit)) break;
    }
    free(keys);
    *operations = count * size;
    return median(nanoseconds, count);
}

static void point_read(const engine *engine) {
    char *path = prepared_copy(engine, 0);
    session *session = engine->open(path, &request.options);
    long operations, checked = request.rows < 10000 ? request.rows : 10000;
    int64_t *keys = allocate((size_t)checked * sizeof(int64_t)), expected = 0;
    for (long index = 0; index < checked; index++) {
        keys[index] = random_below(request.rows);
        expected += people_age(keys[index]);
    }
    expect("sum of what was read", expected, engine->read_ages(session, keys, checked));
    double nanoseconds = batches(engine, session, 0, 256, 1 << 17, 15, &operations);
    engine->close(session);
    report(engine, "operation_ns", nanoseconds, operations);
    report_end();
}

static void column_sum(const engine *engine) {
    char *path = prepared_copy(engine, 0);
    session *session = engine->open(path, &request.options);
    int64_t expected = 0;
    for (long id = 0; id < request.rows; id++) expected += people_age(id);
    expect("sum", expected, engine->sum_ages(session));
    long operations;
    double nanoseconds = batches(engine, session, 1, 1, 1 << 16, 9, &operations);
    engine->close(session);
    report(engine, "rows_per_second", (double)request.rows * 1e9 / nanoseconds, operations * request.rows);
    report_end();
}

static void update_batch(const engine *engine) {
    char *path = prepared_copy(engine, 0);
    session *session = engine->open(path, &request.options);
    long updates = request.updates;
    int64_t *keys = allocate((size_t)updates * sizeof(int64_t)), *values = allocate((size_t)updates * sizeof(int64_t));
    int64_t *model = allocate((size_t)request.rows * sizeof(int64_t)), expected = 0;
    for (long id = 0; id < request.rows; id++) model[id] = people_age(id);
    uint64_t elapsed = 0;
    for (long transaction = 0; transaction < request.transactions; transaction++) {
        for (long index = 0; index < updates; index++) {
            keys[index] = random_below(request.rows);
            values[index] = random_below(100);
            model[keys[index]] = values[index];
        }
        uint64_t start = now_nanoseconds();
        engine->update_ages(session, keys, values, updates);
        elapsed += now_nanoseconds() - start;
    }
    engine->close(session);
    session = engine->open(path, &request.options);
    for (long id = 0; id < request.rows; id++) expected += model[id];
    expect("sum after the updates", expected, engine->sum_ages(session));
    engine->close(session);
    long operations = request.transactions * updates;
    report(engine, "updates_per_second", (double)operations / ((double)elapsed / 1e9), operations);
    report_end();
}

static void delete_half(const engine *engine) {
    char *path = prepared_copy(engine, 0);
    session *session = engine->open(path, &request.options);
    long count = request.rows / 2;
    int64_t *keys = allocate((size_t)count * sizeof(int64_t)), expected = 0;
    for (long index = 0; index < count; index++) keys[index] = index * 2 + 1;
    for (long id = 0; id < request.rows; id += 2) expected += people_age(id);
    uint64_t start = now_nanoseconds();
    engine->delete_rows(session, keys, count);
    double seconds = (double)(now_nanoseconds() - start) / 1e9;
    // At the top of the heap, glibc returns freed memory to the kernel page by page. A close that frees the memory of
    // the transaction would take five times as long. In a larger program other allocations stand above; this one does
    // here.
    void *above = allocate(1 << 16);
    engine->close(session);
    double closed = (double)(now_nanoseconds() - start) / 1e9;
    free(above);
    session = engine->open(path, &request.options);
    expect("rows that are left", request.rows - count, engine->count_rows(session));
    expect("sum of what is left", expected, engine->sum_ages(session));
    engine->close(session);
    report(engine, "rows_per_second", (double)count / seconds, count);
    printf(",\"with_close\":%.6g", (double)count / closed);
    report_end();
}

/* Puts the process into the state in which Assay times an open. It populates the mapped program and libraries, their
 * variables and the heap: otherwise the number of page faults in an open would depend on what else is linked into the
 * program. It makes the allocator map large blocks separately. And it fills the processor's caches, so that nothing of
 * the database and the library is in them, even if a process just before ran the same code. */
static void prepare_process(void) {
    FILE *list = fopen("/proc/self/maps", "r");
    char line[8192];
    unsigned long file_end = 0;
    while (list != NULL && fgets(line, sizeof line, list) != NULL) {
        unsigned long start, end;
        char permissions[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, permissions) != 3) continue;
        if (permissions[0] != 'r' || permissions[3] != 'p') continue;
        int is_file = strchr(line, '/') != NULL;
        if (!is_file && start != file_end && strstr(line, "[heap]") == NULL) continue;
        if (is_file) file_end = end;
        madvise((void *)start, end - start, permissions[1] == 'w' ? 23 : 22 /* MADV_POPULATE_WRITE, _READ */);
    }
    if (list != NULL) fclose(list);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    size_t bytes = 32 << 20;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("no memory");
    memset(memory, 1, bytes);
    munmap(memory, bytes);
}

/* Times from the call of open to the first value, on the copy that `prepare` made. */
static void open_and_read(const engine *engine) {
    char *path = joined(request.directory, "work");
    int64_t key = random_below(request.rows);
    prepare_process();
    uint64_t started = now_nanoseconds();
    session *session = engine->open(path, &request.options);
    int64_t age = engine->read_ages(session, &key, 1);
    uint64_t elapsed = now_nanoseconds() - started;
    expect("age", people_age(key), age);
    engine->close(session);
    report(engine, "open_us", (double)elapsed / 1e3, 1);
    report_end();
}

int control_main(int argc, char **argv, const engine *engine) {
    read_arguments(argc, argv);
    random_state = request.seed * 0x2545F4914F6CDD1DULL;
    make_directory(request.directory);
    if (strcmp(request.workload, "bulk-insert") == 0) bulk_insert(engine);
    else if (strcmp(request.workload, "commit") == 0) commit(engine);
    else if (strcmp(request.workload, "commit-threads") == 0) commit_threads(engine);
    else if (strcmp(request.workload, "point-read") == 0) point_read(engine);
    else if (strcmp(request.workload, "column-sum") == 0) column_sum(engine);
    else if (strcmp(request.workload, "update-batch") == 0) update_batch(engine);
    else if (strcmp(request.workload, "delete-half") == 0) delete_half(engine);
    /*
     * Loads a new database, as a case of Assay does: RocksDB's number of files depends on when its threads flush, and
     * an earlier open leaves files behind, such as logs.
     */
    else if (strcmp(request.workload, "prepare") == 0) free(prepared_copy(engine, 1));
    else if (strcmp(request.workload, "open") == 0) open_and_read(engine);
    else {
        fprintf(stderr, "%s: no workload %s\n%s %s\n", program, request.workload, program, usage);
        return 64;
    }
    return 0;
}
