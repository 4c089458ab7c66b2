#include "probe.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

struct lane {
    int fd;
    int writes;
};

static void *write_lane(void *given) {
    struct lane *lane = given;
    for (int index = 0; index < lane->writes; index++) need(pwrite(lane->fd, "lane", 4, index * 4) == 4, "pwrite");
    return NULL;
}

void run_threads(int fd, int count, int writes) {
    pthread_t threads[64];
    struct lane lane = {fd, writes};
    need(count <= 64, "at most 64 threads");
    for (int index = 0; index < count; index++) pthread_create(&threads[index], NULL, write_lane, &lane);
    for (int index = 0; index < count; index++) pthread_join(threads[index], NULL);
}

// Two threads take the steps of a group commit in a fixed order: `turn` is the next step.
static _Atomic int turn;
static int log_file;

static void wait_for(int step) {
    while (atomic_load(&turn) != step) usleep(100);
}

static void done(void) { atomic_fetch_add(&turn, 1); }

static void append(void) { need(write(log_file, "record", 6) == 6, "write"); }

static void answer(const char *who, struct assay_commit *commit) {
    printf("%s %d\n", who, preload.end(commit));
    fflush(stdout);
}

// The leader writes for both threads and syncs once. With `later`, writing of the next group has begun before either
// thread asks. With `lie`, neither thread syncs. With `alone`, the follower writes for itself after the leader's sync.
struct group {
    bool later, lie, alone;
};

static void *follow(void *given) {
    struct group *group = given;
    struct assay_commit commit;
    wait_for(0);
    preload.begin(&commit);
    done();
    wait_for(2);
    if (group->alone) append();
    answer("follower", &commit);
    done();
    return NULL;
}

void run_group(const char *name) {
    struct group group = {
        .later = !strcmp(name, "later"), .lie = !strcmp(name, "lie"), .alone = !strcmp(name, "alone")};
    log_file = open("group.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    need(log_file >= 0, "open");
    // An older synced write must not count for the group.
    append();
    need(fdatasync(log_file) == 0, "fdatasync");
    pthread_t thread;
    pthread_create(&thread, NULL, follow, &group);
    wait_for(1);
    struct assay_commit commit;
    preload.begin(&commit);
    append();
    append();
    if (!group.lie) need(fdatasync(log_file) == 0, "fdatasync");
    if (group.later) {
        struct lane lane = {log_file, 1};
        pthread_t next;
        pthread_create(&next, NULL, write_lane, &lane);
        pthread_join(next, NULL);
    }
    done();
    wait_for(3);
    answer("leader", &commit);
    pthread_join(thread, NULL);
}
