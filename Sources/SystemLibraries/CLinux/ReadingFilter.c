/* The sandbox of a process that reads open files: an allow-list of system calls, as a program of the kernel (seccomp(2)). */
#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef ARCHITECTURE

/* The lower half of an argument: these machines are little-endian. */
#define ARGUMENT(n) (uint32_t)offsetof(struct seccomp_data, args[n])
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
/* Allows a call, whose number is in the accumulator. */
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
/* Applies the next `count` statements, which end with a RETURN, to this call. */
#define JUDGE(call, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, count)

int linux_confine_reader(void) {
    struct sock_filter rules[] = {
        LOAD((uint32_t)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD((uint32_t)offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_pread64), ALLOW(SYS_read), ALLOW(SYS_lseek), ALLOW(SYS_fstat), ALLOW(SYS_close),
        ALLOW(SYS_recvmsg), ALLOW(SYS_sendmsg), ALLOW(SYS_ppoll),
#ifdef SYS_poll
        ALLOW(SYS_poll),
#endif
        ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_madvise), ALLOW(SYS_brk), ALLOW(SYS_futex),
        ALLOW(SYS_clock_gettime), ALLOW(SYS_getrandom), ALLOW(SYS_getpid), ALLOW(SYS_gettid), ALLOW(SYS_sched_yield),
        ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn), ALLOW(SYS_restart_syscall),
        ALLOW(SYS_exit), ALLOW(SYS_exit_group),
        /* The flags of a descriptor, and its copy. */
        JUDGE(SYS_fcntl, 5),
        LOAD(ARGUMENT(1)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_GETFL, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 1, 0),
        RETURN(REFUSED),
        RETURN(SECCOMP_RET_ALLOW),
        /* Protection without execution. */
        JUDGE(SYS_mprotect, 4),
        LOAD(ARGUMENT(2)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(REFUSED),
        /* Private anonymous memory without execution. */
        JUDGE(SYS_mmap, 7),
        LOAD(ARGUMENT(2)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 4, 0),
        LOAD(ARGUMENT(3)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_TYPE | MAP_ANONYMOUS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_PRIVATE | MAP_ANONYMOUS, 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(REFUSED),
        /* All other calls. */
        RETURN(REFUSED),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else

int linux_confine_reader(void) {
    errno = ENOSYS;
    return -1;
}

#endif
