/*
 * The key and value of a person, byte for byte as Benchmarks/PackedRows writes them for Assay's engines. Key: the
 * table's number and the id, sign bit flipped, big-endian. Value: age and score, 8 bytes each, little-endian; 4 bytes
 * with the end of the name; the name; no dogs.
 */
#ifndef PACKED_H
#define PACKED_H

#include "control.h"

#include <string.h>

enum { packed_key_bytes = 9, packed_head_bytes = 20, packed_room = 64 };

static inline void packed_key(unsigned char key[packed_key_bytes], int64_t id) {
    uint64_t ordered = __builtin_bswap64((uint64_t)id ^ (1ULL << 63));
    key[0] = 1;
    memcpy(key + 1, &ordered, 8);
}

static inline size_t packed_value(unsigned char value[packed_room], const people *rows, long row) {
    size_t length;
    const char *name = people_name(rows, row, &length);
    uint32_t end = (uint32_t)length;
    if (packed_head_bytes + length > packed_room) fail("a name of %zu bytes", length);
    memcpy(value, &rows->ages[row], 8);
    memcpy(value + 8, &rows->scores[row], 8);
    memcpy(value + 16, &end, 4);
    memcpy(value + packed_head_bytes, name, length);
    return packed_head_bytes + length;
}

static inline int64_t packed_age(const void *value, size_t bytes) {
    int64_t age;
    if (bytes < packed_head_bytes) fail("a row of %zu bytes", bytes);
    memcpy(&age, value, 8);
    return age;
}

#endif
