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
    // Two threads that come at once store the same.
    __atomic_store_n(&assay_next[call], function, __ATOMIC_RELAXED);
    return function;
}

void *assay_find_next(enum assay_call call) {
    void *function = look_up(call);
    // A program that could call it without us could not have been linked.
    if (!function) abort();
    return function;
}

void assay_find_all(void) {
    // A libc may lack one of them: then nobody calls it.
    for (int call = 0; call < ASSAY_CALL_COUNT; call++) look_up((enum assay_call)call);
}
#endif
