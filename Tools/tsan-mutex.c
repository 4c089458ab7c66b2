// Tells the thread sanitizer about the contended path of Swift's Mutex.
//
// The fast path of Synchronization.Mutex is inlined and instrumented. The slow path, a futex handed over by the kernel,
// is in the standard library, which is not instrumented. Without this library all data guarded by a contended Mutex
// would be reported as a race. `make test-tsan` preloads it; it does nothing in other programs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*LockSlow)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*UnlockSlow)(__attribute__((swift_context)) void *);
typedef void (*Annotate)(void *);

static LockSlow originalLock;
static UnlockSlow originalUnlock;
static Annotate acquire;
static Annotate release;

__attribute__((constructor)) static void find(void) {
    originalLock = (LockSlow)dlsym(RTLD_NEXT, LOCK);
    originalUnlock = (UnlockSlow)dlsym(RTLD_NEXT, UNLOCK);
    acquire = (Annotate)dlsym(RTLD_DEFAULT, "__tsan_acquire");
    release = (Annotate)dlsym(RTLD_DEFAULT, "__tsan_release");
}

__attribute__((swiftcall)) void lockSlow(uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *mutex) __asm__(UNLOCK);

__attribute__((swiftcall)) void lockSlow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    originalLock(thread, mutex);
    if (acquire) acquire(mutex);
}

__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *mutex) {
    if (release) release(mutex);
    originalUnlock(mutex);
}
