#if defined(__linux__)
#include "failing.h"
#include <errno.h>

// libc maps a thread's stack without this library. If the kernel denies that memory, or the thread, this wrapper notes
// it.
EXPORTED int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    int error = NEXT(pthread_create)(thread, attributes, body, argument);
    if (error == EAGAIN) assay_note_denied(ENOMEM);
    return error;
}
#endif
