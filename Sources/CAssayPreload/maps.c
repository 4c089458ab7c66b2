#if defined(__linux__)
#include "operation.h"

// The watched maps that can be stored through, so that msync knows them. A map beyond these is counted when it is made,
// and its msync is not. `length` is set last and cleared first.
#define MAP_LIMIT 256
static struct {
    _Atomic uintptr_t base;
    _Atomic size_t length;
} maps[MAP_LIMIT];
static _Atomic int map_count;

static void note_map(void *base, size_t length) {
    for (int index = 0; index < MAP_LIMIT; index++) {
        uintptr_t free_place = 0;
        if (!atomic_compare_exchange_strong(&maps[index].base, &free_place, (uintptr_t)base)) continue;
        atomic_store(&maps[index].length, length);
        atomic_fetch_add(&map_count, 1);
        return;
    }
}

// Which of them holds the address, or -1.
static int find_map(const void *address) {
    if (atomic_load_explicit(&map_count, memory_order_relaxed) == 0) return -1;
    for (int index = 0; index < MAP_LIMIT; index++) {
        uintptr_t base = atomic_load(&maps[index].base);
        if (base != 0 && (uintptr_t)address - base < atomic_load(&maps[index].length)) return index;
    }
    return -1;
}

static void *mapped(void *base, size_t length, int protection, int flags, int fd) {
    if (fd < 0 || base == MAP_FAILED) return base;
    int kind = flags & MAP_TYPE;
    bool is_shared = kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE;
    if (!is_shared || !(protection & PROT_WRITE) || !assay_is_file(assay_target_of(fd))) return base;
    COUNT(shared_writable_maps, 1);
    note_map(base, length);
    return base;
}

EXPORTED void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    void *base = NEXT(mmap)(address, length, protection, flags, fd, offset);
    return mapped(base, length, protection, flags, fd);
}

EXPORTED void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
    void *base = NEXT(mmap64)(address, length, protection, flags, fd, offset);
    return mapped(base, length, protection, flags, fd);
}

// A map that is taken away in pieces is forgotten with its first.
EXPORTED int munmap(void *address, size_t length) {
    int index = find_map(address);
    if (index >= 0) {
        atomic_store(&maps[index].length, 0);
        atomic_store(&maps[index].base, 0);
        atomic_fetch_sub(&map_count, 1);
    }
    return NEXT(munmap)(address, length);
}

EXPORTED int msync(void *address, size_t length, int flags) {
    int result = NEXT(msync)(address, length, flags);
    if (find_map(address) < 0) return result;
    COUNT(map_syncs, 1);
    if (flags & MS_SYNC) assay_delay_sync();
    return result;
}
#endif
