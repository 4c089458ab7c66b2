#if defined(__linux__)
#include "operation.h"
#include "past.h"
#include <stdarg.h>
#include <sys/syscall.h>

// The watched writable maps, so that msync recognises them. A map beyond the limit is counted when it is made, but its
// msync is not counted. `length` is set last and cleared first, so that a search finds only complete entries.
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

// The index of the map that contains the address, or -1.
static int find_map(const void *address) {
    if (atomic_load_explicit(&map_count, memory_order_relaxed) == 0) return -1;
    for (int index = 0; index < MAP_LIMIT; index++) {
        uintptr_t base = atomic_load(&maps[index].base);
        if (base != 0 && (uintptr_t)address - base < atomic_load(&maps[index].length)) return index;
    }
    return -1;
}

static void *mapped(void *base, size_t length, int protection, int flags, int fd, int64_t offset, bool is_held) {
    if (base == MAP_FAILED) assay_note_denied(errno);
    if (fd < 0 || base == MAP_FAILED) return base;
    int kind = flags & MAP_TYPE;
    bool is_shared = kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE;
    if (is_held && is_shared && assay_is_file(assay_target_of(fd)))
        assay_trace_map(base, length, offset, fd, assay_target_of(fd), protection & PROT_WRITE);
    if (!is_shared || !(protection & PROT_WRITE) || !assay_is_file(assay_target_of(fd))) return base;
    COUNT(shared_writable_maps, 1);
    ASSAY_UNSTRUCK(maps);
    note_map(base, length);
    return base;
}

// Begins a map's entry in the trace. A map at a fixed address removes the maps that it overlaps.
static bool begin_map(void *address, size_t length, int flags) {
    bool is_held = assay_trace_begin();
    if (is_held && flags & MAP_FIXED) assay_trace_unmap(address, length);
    return is_held;
}

EXPORTED void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    bool is_held = begin_map(address, length, flags);
    void *base = NEXT(mmap)(address, length, protection, flags, fd, offset);
    mapped(base, length, protection, flags, fd, offset, is_held);
    assay_trace_finish(is_held);
    return base;
}

EXPORTED void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
    bool is_held = begin_map(address, length, flags);
    void *base = NEXT(mmap64)(address, length, protection, flags, fd, offset);
    mapped(base, length, protection, flags, fd, offset, is_held);
    assay_trace_finish(is_held);
    return base;
}

// A map that is unmapped in pieces is forgotten with the first piece.
EXPORTED int munmap(void *address, size_t length) {
    int index = find_map(address);
    if (index >= 0) {
        atomic_store(&maps[index].length, 0);
        atomic_store(&maps[index].base, 0);
        atomic_fetch_sub(&map_count, 1);
    }
    bool is_held = assay_trace_begin();
    if (is_held) assay_trace_unmap(address, length);
    int result = NEXT(munmap)(address, length);
    assay_trace_finish(is_held);
    return result;
}

// A trace watches more maps than the counts do, among them maps that became writable later. So it looks at every msync.
static int traced_msync(void *address, size_t length, int flags) {
    assay_sync_begins_here();
    bool is_held = assay_trace_begin();
    if (is_held) assay_trace_stores();
    int result = is_held ? assay_seen_sync(SYS_msync, (long)address, (long)length, flags)
                         : NEXT(msync)(address, length, flags);
    if (is_held) assay_trace_msync(address, length, flags & MS_SYNC, result);
    assay_trace_finish(is_held);
    return result;
}

EXPORTED int mprotect(void *address, size_t length, int protection) {
    bool is_held = protection & PROT_WRITE && assay_trace_begin();
    if (is_held) assay_trace_maps_written(address, length);
    int result = NEXT(mprotect)(address, length, protection);
    assay_trace_finish(is_held);
    return result;
}

EXPORTED void *mremap(void *address, size_t length, size_t wanted, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    void *place = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    bool is_held = assay_trace_begin();
    if (is_held) assay_trace_moves(address);
    if (is_held && flags & MREMAP_FIXED) assay_trace_unmap(place, wanted);
    void *base = NEXT(mremap)(address, length, wanted, flags, place);
    if (is_held && base != MAP_FAILED) assay_trace_moved(address, length, base, wanted);
    assay_trace_finish(is_held);
    return base;
}

EXPORTED int msync(void *address, size_t length, int flags) {
    if (find_map(address) < 0) return traced_msync(address, length, flags);
    struct assay_operation operation = {.call = ASSAY_CALL_msync};
    if (flags & MS_SYNC) operation.strike = assay_strike(ASSAY_FAULT_SYNC, 0);
    int result = PASS(traced_msync(address, length, flags));
    COUNT(map_syncs, 1);
    if (flags & MS_SYNC) assay_delay_sync();
    assay_struck(operation.strike);
    return result;
}
#endif
