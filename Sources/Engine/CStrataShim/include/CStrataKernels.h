// Loops over packed columns. Values are unsigned, `width` is 1, 2, 4 or 8 bytes, alignment does not matter.
//
// Bitmaps are words, lowest bit first. A function changes only the bits from `at` to `at + count`. Selecting only sets
// bits, so callers start from zeros.
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline void strata_prefetch(const void *p) { __builtin_prefetch(p); }

// MARK: Select: set the bits of matching rows

// low <= value <= high, both within `width` bytes.
void strata_select_range(
    const void *values, size_t count, int width, uint64_t low, uint64_t high, uint64_t *bits, size_t at);
void strata_select_doubles(const void *values, size_t count, double low, double high, uint64_t *bits, size_t at);
// Rows of `stride` >= n bytes that start with the `n` bytes at `wanted`.
void strata_select_fixed(
    const void *bytes, size_t count, size_t stride, const void *wanted, size_t n, uint64_t *bits, size_t at);
// Rows described by `count` + 1 offsets of 16 bits that start with the `n` bytes at `wanted`, or equal them.
void strata_select_varied(
    const void *offsets, size_t count, const void *wanted, size_t n, int exact, uint64_t *bits, size_t at);

// MARK: Bits

void strata_bits_fill(uint64_t *bits, size_t at, size_t count);
// Clears or sets the bits that are set in `source`, which has whole words and zeros after `count`.
void strata_bits_clear(uint64_t *bits, size_t at, const void *source, size_t count);
void strata_bits_set(uint64_t *bits, size_t at, const void *source, size_t count);
// Bits `at` to `at + count` as words that start at bit 0, with zeros after them.
void strata_bits_copy(const uint64_t *bits, size_t at, size_t count, uint64_t *target);
// Bit slots[i] becomes bit i of `source`. Slots are 16 bits each.
void strata_bits_scatter(uint64_t *bits, const void *slots, size_t count, const uint64_t *source);
// Bit i of `target` becomes bit slots[i], which is cleared.
void strata_bits_take(uint64_t *bits, const void *slots, size_t count, uint64_t *target);
size_t strata_bits_count(const uint64_t *bits, size_t words);
// Writes first + i for every set bit i; returns the number of set bits.
size_t strata_bits_list(const uint64_t *bits, size_t words, int64_t first, int64_t *target);

// MARK: Aggregate, modulo 2^64; `bits` from bit 0 on, words beyond `count` are not read

uint64_t strata_sum(const void *values, size_t count, int width);
// The sum of the values at slots[i] - first.
uint64_t strata_sum_at(const void *values, int width, const void *slots, size_t count, size_t first);
uint64_t strata_sum_selected(const void *values, size_t count, int width, const uint64_t *bits);
// Without a set bit: the largest number of that width, and 0.
uint64_t strata_least_selected(const void *values, size_t count, int width, const uint64_t *bits);
uint64_t strata_most_selected(const void *values, size_t count, int width, const uint64_t *bits);
// Eight partial sums, added at the end.
double strata_sum_doubles_selected(const void *values, size_t count, const uint64_t *bits);
// Narrows *least and *most; NaN is skipped.
void strata_extreme_doubles_selected(
    const void *values, size_t count, const uint64_t *bits, double *least, double *most);

// MARK: Decode

// base + value; width 0 reads nothing.
void strata_widen(const void *values, size_t count, int width, uint64_t base, uint64_t *target);
void strata_count_up(size_t count, uint64_t first, uint64_t step, uint64_t *target);
// Address and length of rows described by `count` + 1 offsets of 16 bits.
void strata_place_varied(const void *offsets, size_t count, uint64_t *addresses, uint32_t *lengths);
