#if defined(__linux__)
#include "calls.h"
#include <dlfcn.h>
#include <stdlib.h>

void *assay_next[ASSAY_CALL_COUNT];

static const char *const names[ASSAY_CALL_COUNT] = {
#define ASSAY_NAME(name, effect) #name,
    ASSAY_CALLS(ASSAY_NAME)
#undef ASSAY_NAME
};

static void *look_up(enum assay_call call) {
    void *function = dlsym(RTLD_NEXT, names[call]);
    // Concurrent threads store the same value.
    __atomic_store_n(&assay_next[call], function, __ATOMIC_RELAXED);
    return function;
}

void *assay_find_next(enum assay_call call) {
    void *function = look_up(call);
    // A program that calls this function by name cannot have been linked without a libc that defines it.
    if (!function) abort();
    return function;
}

void assay_find_all(void) {
    // A libc may lack a function. No program that was linked with it calls that function.
    for (int call = 0; call < ASSAY_CALL_COUNT; call++) look_up((enum assay_call)call);
}
#endif
