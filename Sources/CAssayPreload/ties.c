#if defined(__linux__)
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

// ASSAY_PARENT names who started the first program: it dies with that process. What it starts itself is left alone.
__attribute__((constructor)) static void tie(void) {
    const char *parent = getenv("ASSAY_PARENT");
    if (!parent || strtol(parent, NULL, 10) != (long)getppid()) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have ended before it was asked for.
    if (strtol(parent, NULL, 10) != (long)getppid()) raise(SIGKILL);
}
#endif
