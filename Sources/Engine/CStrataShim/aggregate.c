// Sums and extremes over packed values, all of them or those whose bit is set. No function reads behind the last
// value.
#include "include/CStrataKernels.h"
#include "wide.h"
#include <stdbool.h>
#include <string.h>

WIDE static uint64_t sum8(const uint8_t *p, size_t n) {
    uint64_t total = 0;
    while (n > 0) {
        size_t part = n < 4096 ? n : 4096;
        uint32_t sum = 0;
        for (size_t i = 0; i < part; i++) sum += p[i];
        total += sum;
        p += part;
        n -= part;
    }
    return total;
}

#define SUM(name, type)                                                                                               \
    WIDE static uint64_t name(const uint8_t *p, size_t n) {                                                           \
        uint64_t total = 0;                                                                                           \
        for (size_t i = 0; i < n; i++) {                                                                              \
            type v;                                                                                                   \
            memcpy(&v, p + sizeof v * i, sizeof v);                                                                   \
            total += v;                                                                                               \
        }                                                                                                             \
        return total;                                                                                                 \
    }

SUM(sum16, uint16_t)
SUM(sum32, uint32_t)
SUM(sum64, uint64_t)

uint64_t strata_sum(const void *values, size_t count, int width) {
    switch (width) {
    case 1: return sum8(values, count);
    case 2: return sum16(values, count);
    case 4: return sum32(values, count);
    case 8: return sum64(values, count);
    default: return 0;
    }
}

#define SUM_AT(type)                                                                                                  \
    for (size_t i = 0; i < count; i++) {                                                                              \
        uint16_t slot;                                                                                                \
        memcpy(&slot, s + 2 * i, 2);                                                                                  \
        type v;                                                                                                       \
        memcpy(&v, p + sizeof v * (slot - first), sizeof v);                                                          \
        total += v;                                                                                                   \
    }                                                                                                                 \
    break

uint64_t strata_sum_at(const void *values, int width, const void *slots, size_t count, size_t first) {
    const uint8_t *p = values, *s = slots;
    uint64_t total = 0;
    switch (width) {
    case 1: SUM_AT(uint8_t);
    case 2: SUM_AT(uint16_t);
    case 4: SUM_AT(uint32_t);
    case 8: SUM_AT(uint64_t);
    default: break;
    }
    return total;
}

typedef bool mask64 __attribute__((ext_vector_type(64)));

// Copies values, 64 per word of `bits`: those whose bit is set as they are, the others as `rest`.
#define KEEP(name, type, vector)                                                                                      \
    typedef type vector __attribute__((ext_vector_type(64)));                                                         \
    WIDE static void name(const uint8_t *p, size_t words, const uint64_t *bits, type rest, uint8_t *target) {         \
        for (size_t i = 0; i < words; i++) {                                                                          \
            mask64 m;                                                                                                 \
            memcpy(&m, bits + i, 8);                                                                                  \
            vector v, keep = -__builtin_convertvector(m, vector);                                                     \
            memcpy(&v, p + i * sizeof v, sizeof v);                                                                   \
            v = (v & keep) | (rest & ~keep);                                                                          \
            memcpy(target + i * sizeof v, &v, sizeof v);                                                              \
        }                                                                                                             \
    }

KEEP(keep8, uint8_t, keep_vector8)
KEEP(keep16, uint16_t, keep_vector16)
KEEP(keep32, uint32_t, keep_vector32)
KEEP(keep64, uint64_t, keep_vector64)

enum { batch = 512 };

// Copies `count` values, at most `batch`: those whose bit is not set become `rest`.
static void keep(
    const uint8_t *p, size_t count, int width, const uint64_t *bits, uint64_t rest, uint8_t *target) {
    size_t words = count / 64;
    switch (width) {
    case 1: keep8(p, words, bits, (uint8_t)rest, target); break;
    case 2: keep16(p, words, bits, (uint16_t)rest, target); break;
    case 4: keep32(p, words, bits, (uint32_t)rest, target); break;
    default: keep64(p, words, bits, rest, target); break;
    }
    size_t w = (size_t)width;
    for (size_t i = words * 64; i < count; i++) {
        bool isSet = bits[i >> 6] >> (i & 63) & 1;
        memcpy(target + i * w, isSet ? (const void *)(p + i * w) : (const void *)&rest, w);
    }
}

uint64_t strata_sum_selected(const void *values, size_t count, int width, const uint64_t *bits) {
    if (width == 0) return 0;
    _Alignas(64) uint8_t kept[batch * 8];
    const uint8_t *p = values;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i += batch) {
        size_t part = count - i < batch ? count - i : batch;
        keep(p + i * (size_t)width, part, width, bits + i / 64, 0, kept);
        total += strata_sum(kept, part, width);
    }
    return total;
}

#define EXTREME(name, type, better)                                                                                   \
    WIDE static uint64_t name(const uint8_t *p, size_t n, uint64_t start) {                                           \
        type best = (type)start;                                                                                      \
        for (size_t i = 0; i < n; i++) {                                                                              \
            type v;                                                                                                   \
            memcpy(&v, p + sizeof v * i, sizeof v);                                                                   \
            best = v better best ? v : best;                                                                          \
        }                                                                                                             \
        return best;                                                                                                  \
    }

EXTREME(least8, uint8_t, <)
EXTREME(least16, uint16_t, <)
EXTREME(least32, uint32_t, <)
EXTREME(least64, uint64_t, <)
EXTREME(most8, uint8_t, >)
EXTREME(most16, uint16_t, >)
EXTREME(most32, uint32_t, >)
EXTREME(most64, uint64_t, >)

uint64_t strata_least_selected(const void *values, size_t count, int width, const uint64_t *bits) {
    _Alignas(64) uint8_t kept[batch * 8];
    const uint8_t *p = values;
    uint64_t best = width == 0 ? 0 : width == 8 ? ~0ull : (1ull << (8 * width)) - 1;
    if (width == 0) return best;
    for (size_t i = 0; i < count; i += batch) {
        size_t part = count - i < batch ? count - i : batch;
        keep(p + i * (size_t)width, part, width, bits + i / 64, ~0ull, kept);
        switch (width) {
        case 1: best = least8(kept, part, best); break;
        case 2: best = least16(kept, part, best); break;
        case 4: best = least32(kept, part, best); break;
        default: best = least64(kept, part, best); break;
        }
    }
    return best;
}

uint64_t strata_most_selected(const void *values, size_t count, int width, const uint64_t *bits) {
    _Alignas(64) uint8_t kept[batch * 8];
    const uint8_t *p = values;
    uint64_t best = 0;
    if (width == 0) return best;
    for (size_t i = 0; i < count; i += batch) {
        size_t part = count - i < batch ? count - i : batch;
        keep(p + i * (size_t)width, part, width, bits + i / 64, 0, kept);
        switch (width) {
        case 1: best = most8(kept, part, best); break;
        case 2: best = most16(kept, part, best); break;
        case 4: best = most32(kept, part, best); break;
        default: best = most64(kept, part, best); break;
        }
    }
    return best;
}

double strata_sum_doubles_selected(const void *values, size_t count, const uint64_t *bits) {
    const uint8_t *p = values;
    double lanes[8] = {0};
    for (size_t i = 0; i < count; i += 64) {
        uint64_t word = bits[i / 64];
        if (word == ~0ull && count - i >= 64) {
            for (size_t k = 0; k < 64; k += 8) {
                double v[8];
                memcpy(v, p + (i + k) * 8, sizeof v);
                for (int j = 0; j < 8; j++) lanes[j] += v[j];
            }
            continue;
        }
        while (word) {
            size_t k = (size_t)__builtin_ctzll(word);
            double v;
            memcpy(&v, p + (i + k) * 8, 8);
            lanes[k & 7] += v;
            word &= word - 1;
        }
    }
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

void strata_extreme_doubles_selected(
    const void *values, size_t count, const uint64_t *bits, double *least, double *most) {
    const uint8_t *p = values;
    double low = *least, high = *most;
    for (size_t i = 0; i < count; i += 64) {
        uint64_t word = bits[i / 64];
        while (word) {
            size_t k = (size_t)__builtin_ctzll(word);
            double v;
            memcpy(&v, p + (i + k) * 8, 8);
            low = v < low ? v : low;
            high = v > high ? v : high;
            word &= word - 1;
        }
    }
    *least = low;
    *most = high;
}
