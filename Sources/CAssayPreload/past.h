// Calls that go past this library: made by an instruction of the program's own, by libc for itself, or by a program
// that was executed without it. A filter of the kernel (seccomp) stops each call that the records could lack without a
// trace in the contents of the files, and tells the process that started the first program, which lets it go on.
//
// 1. Stopped: syncs, submissions to a ring or to the kernel's asynchronous I/O, splices, and each program that is
//    executed. Everything else runs at its own speed.
// 2. A sync that this library makes for the program carries ASSAY_SEEN where the kernel looks for no argument, and the
//    filter lets it pass: what is seen costs nothing.
// 3. The filter holds for all that comes of the first program, also for what is linked statically or starts with an
//    empty environment.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define ASSAY_SEEN 0x41535341595F5345

// Hands the watch to the socket whose number ASSAY_CALLS gives, or says there why there is none. Once in all that comes
// of the first program.
void assay_watch_past(void);

// A sync that is recorded, past the filter. -1 and errno where it fails.
int assay_seen_sync(long number, long a, long b, long c);
// Where libc's own sync would be a point of cancellation: before anything is held.
void assay_sync_begins_here(void);

#pragma GCC visibility pop
