#if defined(__linux__)
#include "past.h"
#include "kernel.h"
#include "trace.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

// MARK: The filter

#define FIELD(name) (uint32_t)offsetof(struct seccomp_data, name)
#define LOAD(place) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (place))
#define EQUALS (BPF_JMP | BPF_JEQ | BPF_K)
#define SKIP_UNLESS(value, count) (struct sock_filter) BPF_JUMP(EQUALS, (uint32_t)(value), 0, (count))
#define SKIP_IF(value, count) (struct sock_filter) BPF_JUMP(EQUALS, (uint32_t)(value), (count), 0)
#define ANSWER(action) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (action))
#define TELL ANSWER(SECCOMP_RET_USER_NOTIF)
#define PASS_ON ANSWER(SECCOMP_RET_ALLOW)

static const int told[] = {
    SYS_execve, SYS_execveat, SYS_io_uring_setup, SYS_io_submit, SYS_splice,
};
// Reported unless they have the mark ASSAY_SEEN.
static const int syncs[] = {SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_sync, SYS_msync};

static struct sock_filter code[64];

static unsigned short make_filter(void) {
    unsigned short size = 0;
    code[size++] = LOAD(FIELD(arch));
    code[size++] = SKIP_IF(MACHINE, 1);
    code[size++] = PASS_ON;
    code[size++] = LOAD(FIELD(nr));
    for (size_t index = 0; index < sizeof told / sizeof told[0]; index++) {
        code[size++] = SKIP_UNLESS(told[index], 1);
        code[size++] = TELL;
    }
    // A call that only waits submits nothing.
    code[size++] = SKIP_UNLESS(SYS_io_uring_enter, 4);
    code[size++] = LOAD(FIELD(args[1]));
    code[size++] = SKIP_UNLESS(0, 1);
    code[size++] = PASS_ON;
    code[size++] = TELL;
    for (size_t index = 0; index < sizeof syncs / sizeof syncs[0]; index++) {
        code[size++] = SKIP_UNLESS(syncs[index], 6);
        code[size++] = LOAD(FIELD(args[5]));
        code[size++] = SKIP_UNLESS((uint64_t)ASSAY_SEEN & 0xFFFFFFFF, 3);
        code[size++] = LOAD(FIELD(args[5]) + 4);
        code[size++] = SKIP_UNLESS((uint64_t)ASSAY_SEEN >> 32, 1);
        code[size++] = PASS_ON;
        code[size++] = TELL;
    }
    code[size++] = PASS_ON;
    return size;
}

static long set_filter(const struct sock_fprog *filter, unsigned long flags) {
    return kernel_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, (long)flags, (long)filter, 0, 0, 0);
}

// Whether the listener can let a reported call continue: from Linux 5.5 on.
static bool lets_go_on(void) {
    struct utsname system;
    if (kernel_call(SYS_uname, (long)&system, 0, 0, 0, 0, 0) < 0) return false;
    char *rest;
    long major = strtol(system.release, &rest, 10), minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
    return major > 5 || (major == 5 && minor >= 5);
}

// The descriptor that receives the reports, or the error.
static long start_watch(void) {
    if (!lets_go_on()) return -ENOSYS;
    struct sock_fprog filter = {.len = make_filter(), .filter = code};
    // A signal does not interrupt a call that was already reported (1 << 5), and the filter does not enable the
    // mitigations that slow down the process (1 << 2).
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | 1 << 2, best = flags | 1 << 5;
    long listener = set_filter(&filter, best);
    if (listener == -EACCES) {
        // An unprivileged process may install a filter if no program that it executes gains privileges.
        kernel_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
        listener = set_filter(&filter, best);
    }
    return listener == -EINVAL ? set_filter(&filter, flags) : listener;
}

// MARK: Handing it over

static void hand_over(int channel, long listener) {
    int32_t error = listener < 0 ? (int32_t)-listener : 0;
    struct iovec part = {&error, sizeof error};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int32_t))];
    } control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listener >= 0) {
        int32_t fd = (int32_t)listener;
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
    }
    kernel_call(SYS_sendmsg, channel, (long)&message, MSG_NOSIGNAL, 0, 0, 0);
}

void assay_watch_past(void) {
    const char *number = getenv("ASSAY_CALLS");
    int channel = number ? atoi(number) : -1;
    struct stat status;
    if (channel < 3 || kernel_call(SYS_fstat, channel, (long)&status, 0, 0, 0, 0) < 0) return;
    if (!S_ISSOCK(status.st_mode)) return;
    long listener = start_watch();
    hand_over(channel, listener);
    // The program must not have more descriptors than it would have without the watch.
    if (listener >= 0) kernel_call(SYS_close, listener, 0, 0, 0, 0, 0);
    kernel_call(SYS_close, channel, 0, 0, 0, 0, 0);
}

// MARK: Syncs that are seen

int assay_seen_sync(long number, long a, long b, long c) {
    long result = kernel_call(number, a, b, c, 0, 0, ASSAY_SEEN);
    if (result >= 0) return (int)result;
    errno = (int)-result;
    return -1;
}

extern void pthread_testcancel(void) __attribute__((weak));

void assay_sync_begins_here(void) {
    if (assay_traces() && pthread_testcancel) pthread_testcancel();
}
#endif
