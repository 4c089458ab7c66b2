#if defined(__linux__)
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

// If ASSAY_PARENT is the parent, this process is the first program, and dies with its parent. Its own children are not
// affected.
__attribute__((constructor)) static void tie(void) {
    const char *parent = getenv("ASSAY_PARENT");
    if (!parent || strtol(parent, NULL, 10) != (long)getppid()) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before the request.
    if (strtol(parent, NULL, 10) != (long)getppid()) raise(SIGKILL);
}
#endif
