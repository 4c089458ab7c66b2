#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Redirects calls inside libc to this library, among them the writes and opens of stdio. Only for a trace and for
// faults: it patches libc's code in every started process, and libc's writes are cancellation points no longer. Returns
// whether writes are redirected; further calls do nothing.
bool assay_detour(void);

#pragma GCC visibility pop
