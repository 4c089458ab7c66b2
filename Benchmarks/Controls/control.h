/*
 * Shared by the control programs. A control does the work of one of Assay's workloads on one engine, as an expert on
 * that engine would write it, without Assay: `assay verify-figures` runs both alternately and decides whether Assay's
 * figure is the engine's or the harness's.
 *
 * Each engine fills in an `engine`, a table of whole batches: no measured loop calls through a pointer.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>
#include <stdint.h>

/* Persons with the ids first ..< first + count, as Benchmarks/Datasets/PeopleDataset.swift defines them. */
typedef struct {
    int64_t first;
    long count;
    /* Names one after the other; row i has the bytes from name_ends[i - 1] (0 for the first) to name_ends[i]. */
    char *names;
    size_t *name_ends;
    int64_t *ages;
    double *scores;
} people;

people people_make(int64_t first, long count);
void people_free(people *rows);
const char *people_name(const people *rows, long row, size_t *length);
int64_t people_age(int64_t id);

/* How the command line wants the engine. */
typedef struct {
    int is_tuned;
    /* full, periodic or none. */
    const char *durability;
    /* A new snapshot for every read, in place of one for the batch. */
    int is_snapshot_each;
    /* Writers that wait in the engine, in place of a lock of the process. */
    int is_busy;
    /* Pages in SQLite's log at which it is checkpointed; 0: as the engine's settings say. */
    long autocheckpoint;
} options;

typedef struct session session;

typedef struct {
    const char *name;
    const char *tuned_name;
    const char *(*version)(void);
    /* Opens the database in the directory, made if there is none. One per thread. */
    session *(*open)(const char *directory, const options *options);
    /* Creates empty tables. */
    void (*create)(session *session);
    /* Tables and all rows in one transaction, durable on return. */
    void (*load)(session *session, const people *rows);
    /* Each row in a durable transaction of its own. */
    void (*insert_each)(session *session, const people *rows);
    /* The sum of `age` of the rows with these keys. */
    int64_t (*read_ages)(session *session, const int64_t *keys, long count);
    int64_t (*sum_ages)(session *session);
    /* One durable transaction. */
    void (*update_ages)(session *session, const int64_t *keys, const int64_t *values, long count);
    /* One durable transaction. */
    void (*delete_rows)(session *session, const int64_t *keys, long count);
    long (*count_rows)(session *session);
    /* Leaves the files as after a clean shutdown. */
    void (*close)(session *session);
} engine;

/* Runs the workload of the command line and prints its line of JSON. Ends the program after any error. */
int control_main(int argc, char **argv, const engine *engine);

uint64_t now_nanoseconds(void);
/* Prints the reason and ends with status 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
