#if defined(__linux__)
#include "failing.h"
#include <errno.h>

// libc's maps for stacks bypass this library: a denied one is noted here, as is a want of threads.
EXPORTED int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    int error = NEXT(pthread_create)(thread, attributes, body, argument);
    if (error == EAGAIN) assay_note_denied(ENOMEM);
    return error;
}
#endif
