#if defined(__linux__)
#include "failing.h"
#include <errno.h>

// The C library's own maps for stacks are seen by nobody: what they were denied is told here, as want of threads is.
EXPORTED int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    int error = NEXT(pthread_create)(thread, attributes, body, argument);
    if (error == EAGAIN) assay_note_denied(ENOMEM);
    return error;
}
#endif
