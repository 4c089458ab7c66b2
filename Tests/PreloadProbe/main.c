#include "probe.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Usage: PreloadProbe WORD..., each `verb`, `verb:descriptor` or `verb:descriptor:argument`. Descriptors are letters.
// Works in the current directory.

struct preload preload;

void need(bool holds, const char *what) {
    if (holds) return;
    perror(what);
    exit(2);
}

static int descriptors[26];

static int *descriptor(const char *letter) {
    need(letter && *letter >= 'a' && *letter <= 'z', "a descriptor is a letter");
    return &descriptors[*letter - 'a'];
}

static void find_preload(void) {
    preload.set_root = (void (*)(const char *))dlsym(RTLD_DEFAULT, "assay_io_set_root");
    preload.set_log_names = (void (*)(const char *))dlsym(RTLD_DEFAULT, "assay_io_set_log_names");
    preload.snapshot = (void (*)(struct assay_io_counts *))dlsym(RTLD_DEFAULT, "assay_io_snapshot");
    preload.field_name = (const char *(*)(size_t))dlsym(RTLD_DEFAULT, "assay_io_field_name");
    preload.set_delays = (void (*)(uint64_t, uint64_t))dlsym(RTLD_DEFAULT, "assay_io_set_delays");
    preload.set_fault = (int (*)(const char *))dlsym(RTLD_DEFAULT, "assay_io_set_fault");
    preload.fault_count = (unsigned long long (*)(const char *))dlsym(RTLD_DEFAULT, "assay_io_fault_count");
    preload.begin = (void (*)(struct assay_commit *))dlsym(RTLD_DEFAULT, "assay_commit_begin");
    preload.end = (int (*)(struct assay_commit *))dlsym(RTLD_DEFAULT, "assay_commit_end");
    preload.own = (int (*)(void))dlsym(RTLD_DEFAULT, "assay_commit_own");
}

static void print_counts(void) {
    struct assay_io_counts counts;
    preload.snapshot(&counts);
    const uint64_t *values = (const uint64_t *)&counts;
    for (size_t index = 0; preload.field_name(index); index++) {
        if (values[index]) printf("%s %llu\n", preload.field_name(index), (unsigned long long)values[index]);
    }
}

static FILE *unseen;

static int open_by_name(const char *verb, const char *path) {
    int flags = O_RDWR | O_CREAT;
    if (!strcmp(verb, "open")) return open(path, flags, 0644);
    if (!strcmp(verb, "open64")) return open64(path, flags, 0644);
    if (!strcmp(verb, "openat")) return openat(AT_FDCWD, path, flags, 0644);
    if (!strcmp(verb, "openat64")) return openat64(AT_FDCWD, path, flags, 0644);
    if (!strcmp(verb, "creat")) return creat(path, 0644);
    if (!strcmp(verb, "open-dsync")) return open(path, flags | O_DSYNC, 0644);
    if (!strcmp(verb, "open-sync")) return open(path, flags | O_SYNC, 0644);
    if (!strcmp(verb, "open-directory")) return open(path, O_RDONLY | O_DIRECTORY);
    // A descriptor that libc opened for itself, which no wrapper saw.
    if (!strcmp(verb, "open-unseen")) {
        need((unseen = fopen(path, "w+")) != NULL, verb);
        return fileno(unseen);
    }
    return -2;
}

// `argument` is a path, and for two paths the second is the first with `2` behind it.
static bool name_by_name(const char *verb, const char *path) {
    char second[4096];
    snprintf(second, sizeof second, "%s2", path);
    if (!strcmp(verb, "rename")) need(rename(path, second) == 0, verb);
    else if (!strcmp(verb, "renameat")) need(renameat(AT_FDCWD, path, AT_FDCWD, second) == 0, verb);
    else if (!strcmp(verb, "renameat2")) need(renameat2(AT_FDCWD, path, AT_FDCWD, second, 1) == 0, verb);
    else if (!strcmp(verb, "link")) need(link(path, second) == 0, verb);
    else if (!strcmp(verb, "linkat")) need(linkat(AT_FDCWD, path, AT_FDCWD, second, 0) == 0, verb);
    else if (!strcmp(verb, "unlink")) need(unlink(path) == 0, verb);
    else if (!strcmp(verb, "unlinkat")) need(unlinkat(AT_FDCWD, path, 0) == 0, verb);
    else if (!strcmp(verb, "truncate")) need(truncate(path, 10) == 0, verb);
    else return false;
    return true;
}

// Nanoseconds per pwrite, averaged over this many.
static void time_writes(int fd, long count) {
    struct timespec start, end;
    static char bytes[128];
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long index = 0; index < count; index++) need(pwrite(fd, bytes, sizeof bytes, 0) > 0, "pwrite");
    clock_gettime(CLOCK_MONOTONIC, &end);
    double elapsed = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    printf("nanoseconds %.1f\n", elapsed / (double)count);
}

// Milliseconds of delay for syncs and for writes: `7,3`.
static void set_delays(const char *argument) {
    char *rest;
    unsigned long long sync = strtoull(argument, &rest, 10);
    need(*rest == ',', "two delays");
    preload.set_delays(sync * 1000000, strtoull(rest + 1, NULL, 10) * 1000000);
}

// Whole milliseconds since the previous call.
static void print_elapsed(void) {
    static struct timespec last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long elapsed = (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000;
    if (last.tv_sec) printf("elapsed %ld\n", elapsed);
    last = now;
}

static bool run_alone(const char *verb, const char *argument) {
    static struct assay_commit commit;
    if (!strcmp(verb, "begin")) preload.begin(&commit);
    else if (!strcmp(verb, "end")) printf("commit %d\n", preload.end(&commit));
    else if (!strcmp(verb, "own")) printf("own %d\n", preload.own());
    else if (!strcmp(verb, "counts")) print_counts();
    else if (!strcmp(verb, "root")) preload.set_root(argument);
    else if (!strcmp(verb, "logs")) preload.set_log_names(argument);
    else if (!strcmp(verb, "delays")) set_delays(argument);
    else if (!strcmp(verb, "elapsed")) print_elapsed();
    else if (!strcmp(verb, "fault")) printf("fault %d\n", preload.set_fault(argument));
    else if (!strcmp(verb, "faults")) printf("%s %llu\n", argument, preload.fault_count(argument));
    else if (!strcmp(verb, "group")) run_group(argument);
    else if (!strcmp(verb, "close-unseen")) need(fclose(unseen) == 0, verb);
    else if (!strcmp(verb, "execute")) need(system(argument) == 0, "system");
    else return false;
    return true;
}

static void run_word(char *word) {
    char *rest = strchr(word, ':');
    if (rest) *rest++ = 0;
    if (run_alone(word, rest) || name_by_name(word, rest ? rest : "")) return;
    char *argument = rest ? strchr(rest, ':') : NULL;
    if (argument) *argument++ = 0;
    int *place = descriptor(rest);
    long number = argument ? strtol(argument, NULL, 10) : 0;
    // The argument of a copy is a descriptor, too.
    if (argument && *argument >= 'a' && *argument <= 'z' && argument[1] == 0) number = *descriptor(argument);
    int fd = argument ? open_by_name(word, argument) : -2;
    if (fd != -2) {
        need(fd >= 0, word);
        *place = fd;
    } else if (!strcmp(word, "threads")) {
        run_threads(*place, (int)number, 20000);
    } else if (!strcmp(word, "time")) {
        time_writes(*place, number);
    } else if (!strcmp(word, "pipe")) {
        // Gives a pipe descriptors that were a file's before.
        int ends[2];
        need(pipe(ends) == 0, word);
        *place = ends[1];
    } else if (!strcmp(word, "dup")) {
        *descriptor(argument) = dup(*place);
    } else if (!strcmp(word, "number")) {
        *place = (int)number;
    } else {
        long result = call_by_name(word, *place, number);
        need(result != -2, word);
        printf("%s %ld\n", word, result);
    }
}

// A child executes the words up to `joined`; the parent continues after it when the child has ended.
static int fork_at(int index, int count, char **words) {
    fflush(stdout);
    pid_t child = fork();
    need(child >= 0, "fork");
    int end = index + 1;
    while (end < count && strcmp(words[end], "joined")) end++;
    if (child == 0) {
        for (int place = index + 1; place < end; place++) run_word(words[place]);
        exit(0);
    }
    int status;
    need(waitpid(child, &status, 0) == child && status == 0, "the child");
    return end;
}

int main(int count, char **words) {
    find_preload();
    for (int index = 1; index < count; index++) {
        if (!strcmp(words[index], "fork")) index = fork_at(index, count, words);
        else run_word(words[index]);
    }
    return 0;
}
