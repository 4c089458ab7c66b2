// Comparisons over packed values, whose result is a bit per row. No function reads behind the last value.
#include "include/CStrataKernels.h"
#include "wide.h"
#include <stdbool.h>
#include <string.h>

// Sets the bits of `word` from bit `at` on.
INLINE void emit(uint64_t *bits, size_t at, uint64_t word) {
    size_t shift = at & 63;
    bits += at >> 6;
    bits[0] |= word << shift;
    if (shift && word >> (64 - shift)) bits[1] |= word >> (64 - shift);
}

typedef bool mask64 __attribute__((ext_vector_type(64)));

// 64 rows at a time: one vector comparison, whose result becomes one word.
#define RANGE(name, type, vector)                                                                                     \
    typedef type vector __attribute__((ext_vector_type(64)));                                                         \
    WIDE static void name(const uint8_t *p, size_t n, type low, type span, uint64_t *bits, size_t at) {               \
        size_t i = 0;                                                                                                 \
        for (; i + 64 <= n; i += 64) {                                                                                \
            vector v;                                                                                                 \
            memcpy(&v, p + i * sizeof(type), sizeof v);                                                               \
            mask64 m = __builtin_convertvector((vector)(v - low) <= span, mask64);                                    \
            uint64_t word;                                                                                            \
            memcpy(&word, &m, 8);                                                                                     \
            emit(bits, at + i, word);                                                                                 \
        }                                                                                                             \
        uint64_t word = 0;                                                                                            \
        for (size_t k = i; k < n; k++) {                                                                              \
            type v;                                                                                                   \
            memcpy(&v, p + k * sizeof(type), sizeof v);                                                               \
            word |= (uint64_t)((type)(v - low) <= span) << (k - i);                                                   \
        }                                                                                                             \
        if (word) emit(bits, at + i, word);                                                                           \
    }

RANGE(range8, uint8_t, vector8)
RANGE(range16, uint16_t, vector16)
RANGE(range32, uint32_t, vector32)

// Eight at a time: a vector of 64 words would not fit the registers.
typedef bool mask8 __attribute__((ext_vector_type(8)));
typedef uint64_t words8 __attribute__((ext_vector_type(8)));
typedef double doubles8 __attribute__((ext_vector_type(8)));

#define WIDE_ROWS(name, type, vector, fits)                                                                           \
    WIDE static void name(const uint8_t *p, size_t n, type low, type high, uint64_t *bits, size_t at) {               \
        size_t i = 0;                                                                                                 \
        for (; i + 64 <= n; i += 64) {                                                                                \
            uint64_t word = 0;                                                                                        \
            _Pragma("unroll") for (size_t k = 0; k < 64; k += 8) {                                                    \
                vector v;                                                                                             \
                memcpy(&v, p + (i + k) * 8, sizeof v);                                                                \
                mask8 m = __builtin_convertvector(fits, mask8);                                                       \
                uint8_t byte;                                                                                         \
                memcpy(&byte, &m, 1);                                                                                 \
                word |= (uint64_t)byte << k;                                                                          \
            }                                                                                                         \
            emit(bits, at + i, word);                                                                                 \
        }                                                                                                             \
        uint64_t word = 0;                                                                                            \
        for (size_t k = i; k < n; k++) {                                                                              \
            type v;                                                                                                   \
            memcpy(&v, p + k * 8, 8);                                                                                 \
            word |= (uint64_t)((fits) != 0) << (k - i);                                                               \
        }                                                                                                             \
        if (word) emit(bits, at + i, word);                                                                           \
    }

WIDE_ROWS(range64, uint64_t, words8, v - low <= high - low)
WIDE_ROWS(doubles64, double, doubles8, (v >= low) & (v <= high))

void strata_select_range(
    const void *values, size_t count, int width, uint64_t low, uint64_t high, uint64_t *bits, size_t at) {
    uint64_t span = high - low;
    switch (width) {
    case 1: range8(values, count, (uint8_t)low, (uint8_t)span, bits, at); break;
    case 2: range16(values, count, (uint16_t)low, (uint16_t)span, bits, at); break;
    case 4: range32(values, count, (uint32_t)low, (uint32_t)span, bits, at); break;
    case 8: range64(values, count, low, high, bits, at); break;
    default: break;
    }
}

void strata_select_doubles(
    const void *values, size_t count, double low, double high, uint64_t *bits, size_t at) {
    doubles64(values, count, low, high, bits, at);
}

// MARK: Bytes

INLINE uint64_t load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

INLINE uint32_t load32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

INLINE uint16_t load16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, 2);
    return v;
}

// The n bytes that a row must start with. The first 16 of them are in two words, which overlap if n is less, so that
// nothing beyond the n bytes is read.
typedef struct {
    uint64_t head, tail;
    const uint8_t *bytes;
    size_t n;
} needle;

INLINE needle make_needle(const uint8_t *p, size_t n) {
    needle w = {0, 0, p, n};
    if (n >= 8) {
        w.head = load64(p);
        w.tail = load64(p + (n < 16 ? n : 16) - 8);
    } else if (n >= 4) {
        w.head = load32(p);
        w.tail = load32(p + n - 4);
    } else if (n >= 2) {
        w.head = load16(p);
        w.tail = load16(p + n - 2);
    } else if (n == 1) {
        w.head = p[0];
    }
    return w;
}

// Whether a row starts with the needle. `class` is class_of(n): a constant in each caller, so that the compiler keeps
// one case only.
INLINE bool starts_with(const uint8_t *p, const needle *w, int class) {
    switch (class) {
    case 0: return true;
    case 1: return p[0] == w->head;
    case 2: return ((load16(p) ^ w->head) | (load16(p + w->n - 2) ^ w->tail)) == 0;
    case 3: return ((load32(p) ^ w->head) | (load32(p + w->n - 4) ^ w->tail)) == 0;
    case 4: return ((load64(p) ^ w->head) | (load64(p + w->n - 8) ^ w->tail)) == 0;
    default:
        return ((load64(p) ^ w->head) | (load64(p + 8) ^ w->tail)) == 0
            && memcmp(p + 16, w->bytes + 16, w->n - 16) == 0;
    }
}

INLINE int class_of(size_t n) { return n == 0 ? 0 : n == 1 ? 1 : n < 4 ? 2 : n < 8 ? 3 : n <= 16 ? 4 : 5; }

INLINE void fixed_rows(
    const uint8_t *p, size_t count, size_t stride, const needle *w, int class, uint64_t *bits, size_t at) {
    for (size_t i = 0; i < count; i += 64) {
        size_t part = count - i < 64 ? count - i : 64;
        uint64_t word = 0;
        for (size_t k = 0; k < part; k++, p += stride) word |= (uint64_t)starts_with(p, w, class) << k;
        if (word) emit(bits, at + i, word);
    }
}

void strata_select_fixed(
    const void *bytes, size_t count, size_t stride, const void *wanted, size_t n, uint64_t *bits, size_t at) {
    needle w = make_needle(wanted, n);
    switch (class_of(n)) {
    case 0: fixed_rows(bytes, count, stride, &w, 0, bits, at); break;
    case 1: fixed_rows(bytes, count, stride, &w, 1, bits, at); break;
    case 2: fixed_rows(bytes, count, stride, &w, 2, bits, at); break;
    case 3: fixed_rows(bytes, count, stride, &w, 3, bits, at); break;
    case 4: fixed_rows(bytes, count, stride, &w, 4, bits, at); break;
    default: fixed_rows(bytes, count, stride, &w, 5, bits, at); break;
    }
}

typedef uint16_t lengths64 __attribute__((ext_vector_type(64)));

// A bit for each of 64 rows: whether its length is between `least` and `least + span`.
WIDE static uint64_t fitting_lengths(const uint8_t *offsets, uint16_t least, uint16_t span) {
    lengths64 first, last;
    memcpy(&first, offsets, sizeof first);
    memcpy(&last, offsets + 2, sizeof last);
    mask64 m = __builtin_convertvector((lengths64)(last - first - least) <= span, mask64);
    uint64_t word;
    memcpy(&word, &m, 8);
    return word;
}

void strata_select_varied(
    const void *offsets, size_t count, const void *wanted, size_t n, int exact, uint64_t *bits, size_t at) {
    if (n > UINT16_MAX) return;
    const uint8_t *o = offsets;
    const uint8_t *heap = o + 2 * (count + 1);
    needle w = make_needle(wanted, n);
    int class = class_of(n);
    uint16_t span = exact ? 0 : (uint16_t)(UINT16_MAX - n);
    for (size_t i = 0; i < count; i += 64) {
        uint64_t candidates = 0;
        if (count - i >= 64) {
            candidates = fitting_lengths(o + 2 * i, (uint16_t)n, span);
        } else {
            for (size_t k = i; k < count; k++) {
                uint16_t length = (uint16_t)(load16(o + 2 * k + 2) - load16(o + 2 * k));
                candidates |= (uint64_t)((uint16_t)(length - n) <= span) << (k - i);
            }
        }
        uint64_t word = candidates;
        while (candidates) {
            int k = __builtin_ctzll(candidates);
            candidates &= candidates - 1;
            if (!starts_with(heap + load16(o + 2 * (i + k)), &w, class)) word &= ~(1ull << k);
        }
        if (word) emit(bits, at + i, word);
    }
}

// MARK: Bits

void strata_bits_fill(uint64_t *bits, size_t at, size_t count) {
    for (size_t i = 0; i < count; i += 64) {
        emit(bits, at + i, count - i < 64 ? (1ull << (count - i)) - 1 : ~0ull);
    }
}

void strata_bits_clear(uint64_t *bits, size_t at, const void *source, size_t count) {
    const uint8_t *p = source;
    for (size_t i = 0; i < count; i += 64) {
        uint64_t word = load64(p + i / 8);
        size_t shift = (at + i) & 63;
        uint64_t *target = bits + ((at + i) >> 6);
        target[0] &= ~(word << shift);
        if (shift && word >> (64 - shift)) target[1] &= ~(word >> (64 - shift));
    }
}

void strata_bits_set(uint64_t *bits, size_t at, const void *source, size_t count) {
    const uint8_t *p = source;
    for (size_t i = 0; i < count; i += 64) emit(bits, at + i, load64(p + i / 8));
}

void strata_bits_copy(const uint64_t *bits, size_t at, size_t count, uint64_t *target) {
    size_t shift = at & 63;
    bits += at >> 6;
    for (size_t i = 0; i < count; i += 64) {
        uint64_t word = bits[i / 64] >> shift;
        size_t left = count - i;
        if (shift && left > 64 - shift) word |= bits[i / 64 + 1] << (64 - shift);
        target[i / 64] = left < 64 ? word & ((1ull << left) - 1) : word;
    }
}

void strata_bits_scatter(uint64_t *bits, const void *slots, size_t count, const uint64_t *source) {
    const uint8_t *p = slots;
    for (size_t i = 0; i < count; i++) {
        uint16_t slot = load16(p + 2 * i);
        uint64_t one = source[i >> 6] >> (i & 63) & 1;
        uint64_t *word = bits + (slot >> 6);
        *word = (*word & ~(1ull << (slot & 63))) | one << (slot & 63);
    }
}

void strata_bits_take(uint64_t *bits, const void *slots, size_t count, uint64_t *target) {
    const uint8_t *p = slots;
    for (size_t i = 0; i < (count + 63) / 64; i++) target[i] = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t slot = load16(p + 2 * i);
        target[i >> 6] |= (bits[slot >> 6] >> (slot & 63) & 1) << (i & 63);
        bits[slot >> 6] &= ~(1ull << (slot & 63));
    }
}

WIDE size_t strata_bits_count(const uint64_t *bits, size_t words) {
    size_t total = 0;
    for (size_t i = 0; i < words; i++) total += (size_t)__builtin_popcountll(bits[i]);
    return total;
}

size_t strata_bits_list(const uint64_t *bits, size_t words, int64_t first, int64_t *target) {
    size_t n = 0;
    for (size_t i = 0; i < words; i++, first = (int64_t)((uint64_t)first + 64)) {
        uint64_t word = bits[i];
        while (word) {
            target[n++] = (int64_t)((uint64_t)first + (uint64_t)__builtin_ctzll(word));
            word &= word - 1;
        }
    }
    return n;
}
