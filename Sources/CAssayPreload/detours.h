#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// What libc calls itself, stdio's writes and opens among them, comes to us from now on, too. Only for a trace and for
// faults: it costs every process that is started a change of libc's code, and its writes are no points of cancellation
// any more. Whether its writes do; once is enough.
bool assay_detour(void);

#pragma GCC visibility pop
