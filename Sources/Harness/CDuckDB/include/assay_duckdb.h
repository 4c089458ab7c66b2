// What Swift cannot say of DuckDB's C interface: a result is passed by value, so that its size belongs to the call. The
// functions themselves are looked up while the program runs (DuckDBFunctions.swift).
#ifndef ASSAY_DUCKDB_H
#define ASSAY_DUCKDB_H

#include <stdint.h>

/// A result of DuckDB, which owns what stands in it. Its members are its library's own.
struct assay_duckdb_result {
    uint64_t counts[3];
    void *columns;
    void *message;
    void *data;
};

/// `duckdb_fetch_chunk`: the next rows of a result; NULL behind the last.
typedef void *(*assay_duckdb_fetch_chunk)(struct assay_duckdb_result result);

#endif
