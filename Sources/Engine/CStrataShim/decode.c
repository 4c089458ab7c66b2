// Decodes packed values to 64-bit words. No function reads behind the last value.
#include "include/CStrataKernels.h"
#include "wide.h"
#include <string.h>

#define WIDEN(name, type)                                                                                             \
    WIDE static void name(const uint8_t *restrict p, size_t n, uint64_t base, uint64_t *restrict target) {            \
        for (size_t i = 0; i < n; i++) {                                                                              \
            type v;                                                                                                   \
            memcpy(&v, p + sizeof v * i, sizeof v);                                                                   \
            target[i] = base + v;                                                                                     \
        }                                                                                                             \
    }

WIDEN(widen8, uint8_t)
WIDEN(widen16, uint16_t)
WIDEN(widen32, uint32_t)
WIDEN(widen64, uint64_t)

WIDE static void repeat64(size_t n, uint64_t value, uint64_t *target) {
    for (size_t i = 0; i < n; i++) target[i] = value;
}

void strata_widen(const void *values, size_t count, int width, uint64_t base, uint64_t *target) {
    switch (width) {
    case 0: repeat64(count, base, target); break;
    case 1: widen8(values, count, base, target); break;
    case 2: widen16(values, count, base, target); break;
    case 4: widen32(values, count, base, target); break;
    case 8: widen64(values, count, base, target); break;
    default: break;
    }
}

WIDE void strata_count_up(size_t count, uint64_t first, uint64_t step, uint64_t *target) {
    for (size_t i = 0; i < count; i++) target[i] = first + step * i;
}

WIDE void strata_place_varied(
    const void *offsets, size_t count, uint64_t *restrict addresses, uint32_t *restrict lengths) {
    const uint8_t *o = offsets;
    uint64_t heap = (uint64_t)(uintptr_t)(o + 2 * (count + 1));
    for (size_t i = 0; i < count; i++) {
        uint16_t first, last;
        memcpy(&first, o + 2 * i, 2);
        memcpy(&last, o + 2 * i + 2, 2);
        addresses[i] = heap + first;
        lengths[i] = (uint16_t)(last - first);
    }
}
