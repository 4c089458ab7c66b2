// A result of another size would be passed in another way.
#include "assay_duckdb.h"

_Static_assert(sizeof(struct assay_duckdb_result) == 3 * sizeof(uint64_t) + 3 * sizeof(void *), "a result has moved");
