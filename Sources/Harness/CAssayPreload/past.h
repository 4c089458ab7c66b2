// Calls that bypass this library: by a system call instruction of the program, inside libc, or by a program that was
// executed without the library. A seccomp filter stops each such call that a trace would miss without a visible change
// of the files, and reports it to the process that started the first program, which lets it continue.
//
// 1. Stopped: syncs, submissions to a ring or to the kernel's asynchronous I/O, splices, and each execution of a
//    program. Every other call runs at full speed.
// 2. A sync that this library makes for the program passes ASSAY_SEEN in an argument that the kernel ignores, and the
//    filter lets it pass: recorded syncs cost nothing extra.
// 3. The filter applies to all descendants of the first program, also to statically linked ones and those started with
//    an empty environment.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define ASSAY_SEEN 0x41535341595F5345

// Sends the listener through the socket whose number is in ASSAY_CALLS, or the reason why there is none. Only the first
// of all descendants does so.
void assay_watch_past(void);

// A recorded sync, which the filter lets pass. -1 and errno if it fails.
int assay_seen_sync(long number, long a, long b, long c);
// A cancellation point, as libc's own sync is one: called before any lock is held.
void assay_sync_begins_here(void);

#pragma GCC visibility pop
