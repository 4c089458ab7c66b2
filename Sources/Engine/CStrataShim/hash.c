#include "CStrataShim.h"

// The system's libxxhash is built for the oldest processor of its architecture. Strata often hashes whole nodes, so
// this file compiles the code in xxhash.h again for wider vectors.
#if defined(__x86_64__) && defined(__clang__) && __has_include(<xxhash.h>)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define XXH_INLINE_ALL
#define XXH_VECTOR 2 // XXH_AVX2
#include <xxhash.h>

uint64_t strata_hash_wide(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }
#pragma clang attribute pop

int strata_can_hash_wide(void) { return __builtin_cpu_supports("avx2") != 0; }
#else
uint64_t strata_hash_wide(const void *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return 0;
}

int strata_can_hash_wide(void) { return 0; }
#endif
