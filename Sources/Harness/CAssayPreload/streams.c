#if defined(__linux__)
#include "operation.h"
#include <string.h>

// Streams of libc. libc's writes for a stream bypass this library unless they are redirected to it (detours.h).
static bool writes(const char *mode) { return mode && strpbrk(mode, "wa+"); }

static FILE *opened(FILE *stream, const char *mode) {
    if (!stream) return stream;
    int fd = fileno(stream);
    assay_forget(fd);
    if (writes(mode) && assay_strikes() && assay_is_file(assay_target_of(fd))) assay_note_stream();
    return stream;
}

EXPORTED FILE *fopen(const char *path, const char *mode) { return opened(NEXT(fopen)(path, mode), mode); }

EXPORTED FILE *fopen64(const char *path, const char *mode) { return opened(NEXT(fopen64)(path, mode), mode); }

EXPORTED FILE *fdopen(int fd, const char *mode) { return opened(NEXT(fdopen)(fd, mode), mode); }

EXPORTED FILE *freopen(const char *path, const char *mode, FILE *stream) {
    assay_forget(fileno(stream));
    return opened(NEXT(freopen)(path, mode, stream), mode);
}

EXPORTED FILE *freopen64(const char *path, const char *mode, FILE *stream) {
    assay_forget(fileno(stream));
    return opened(NEXT(freopen64)(path, mode, stream), mode);
}
#endif
