#if defined(__linux__)
#include "delays.h"
#include "calls.h"
#include <errno.h>
#include <time.h>

void assay_wait(uint64_t nanoseconds) {
    int error = errno;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t part = (uint64_t)end.tv_nsec + nanoseconds;
    end.tv_sec += (time_t)(part / 1000000000u);
    end.tv_nsec = (long)(part % 1000000000u);
    // An absolute time, so that a signal does not shorten the wait.
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {}
    errno = error;
}

EXPORTED void assay_io_set_delays(uint64_t sync_nanoseconds, uint64_t write_nanoseconds) {
    if (!assay_shared) return;
    atomic_store(&assay_shared->sync_delay, sync_nanoseconds);
    atomic_store(&assay_shared->write_delay, write_nanoseconds);
}
#endif
