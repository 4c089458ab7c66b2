#if defined(__linux__)
#include "room.h"
#include "kernel.h"
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#define ROOM_LIMIT 64
static char rooms[ROOM_LIMIT][PATH_MAX];
// A bit for each buffer in use. Those in use by the parent's other threads at a fork stay in use in the child.
static _Atomic uint64_t taken;

void *assay_pages(size_t length) {
    long memory = kernel_call(
        SYS_mmap, 0, (long)length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory < 0 && memory > -4096 ? NULL : (void *)memory;
}

void assay_pages_back(void *pages, size_t length) {
    if (pages) kernel_call(SYS_munmap, (long)pages, (long)length, 0, 0, 0, 0);
}

char *assay_room(void) {
    for (;;) {
        uint64_t before = atomic_load_explicit(&taken, memory_order_relaxed);
        while (~before != 0) {
            int place = __builtin_ctzll(~before);
            if (atomic_compare_exchange_weak(&taken, &before, before | (uint64_t)1 << place)) return rooms[place];
        }
        char *pages = assay_pages(PATH_MAX);
        if (pages) return pages;
        // Buffers are held only for moments.
        kernel_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
}

void assay_room_back(char *room) {
    if (room >= rooms[0] && room < rooms[0] + sizeof rooms) {
        atomic_fetch_and(&taken, ~((uint64_t)1 << ((size_t)(room - rooms[0]) / PATH_MAX)));
    } else {
        assay_pages_back(room, PATH_MAX);
    }
}
#endif
