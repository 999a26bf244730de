/* Two sandboxes (seccomp(2), landlock(7)). A foreign program computes an output from its input: it reads and runs the given
   files, and starts processes that end with it. A client of a server connects to sockets, reads some files and runs no
   program. */
#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSED(error) (SECCOMP_RET_ERRNO | (error))
/* The call's number is in the accumulator. */
#define REFUSE(call, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), RETURN(REFUSED(error))
/* Calls of the x32 interface have this bit. Without a check, their other numbers would pass the filter. */
#define X32 0x40000000u
#define NAMESPACES                                                                                                          \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* Calls that a foreign program does not need: the network, sockets of this machine, and watches of files. A pair of sockets
   would also reach others: a datagram can name its receiver. */
static const struct sock_filter alone[] = {
    REFUSE(SYS_socket, EPERM), REFUSE(SYS_socketpair, EPERM), REFUSE(SYS_connect, EPERM), REFUSE(SYS_bind, EPERM),
    REFUSE(SYS_listen, EPERM), REFUSE(SYS_sendto, EPERM), REFUSE(SYS_sendmsg, EPERM), REFUSE(SYS_sendmmsg, EPERM),
    REFUSE(SYS_inotify_init1, EPERM),
};

/* Calls that a client does not need: other programs, and sockets that take connections. */
static const struct sock_filter client[] = {
    REFUSE(SYS_execve, EPERM), REFUSE(SYS_execveat, EPERM), REFUSE(SYS_bind, EPERM), REFUSE(SYS_listen, EPERM),
    REFUSE(SYS_accept, EPERM), REFUSE(SYS_accept4, EPERM),
};

static int filter_calls(const struct sock_filter *own, size_t size) {
    static const struct sock_filter first[] = {
        LOAD((uint32_t)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD((uint32_t)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
        RETURN(SECCOMP_RET_KILL_PROCESS),
    };
    static const struct sock_filter rest[] = {
        /* Access to other processes. */
        REFUSE(SYS_kill, EPERM), REFUSE(SYS_tkill, EPERM), REFUSE(SYS_tgkill, EPERM), REFUSE(SYS_rt_sigqueueinfo, EPERM),
        REFUSE(SYS_rt_tgsigqueueinfo, EPERM), REFUSE(SYS_pidfd_open, EPERM), REFUSE(SYS_pidfd_send_signal, EPERM),
        REFUSE(SYS_pidfd_getfd, EPERM), REFUSE(SYS_ptrace, EPERM), REFUSE(SYS_process_vm_readv, EPERM),
        REFUSE(SYS_process_vm_writev, EPERM), REFUSE(SYS_process_madvise, EPERM), REFUSE(SYS_kcmp, EPERM),
        REFUSE(SYS_setpriority, EPERM), REFUSE(SYS_ioprio_set, EPERM), REFUSE(SYS_sched_setscheduler, EPERM),
        REFUSE(SYS_sched_setattr, EPERM), REFUSE(SYS_prlimit64, EPERM), REFUSE(SYS_setrlimit, EPERM),
        /* A new process group, with which the program would survive its time limit. */
        REFUSE(SYS_setsid, EPERM), REFUSE(SYS_setpgid, EPERM),
        /* Memory and queues that outlive the program. */
        REFUSE(SYS_shmget, EPERM), REFUSE(SYS_msgget, EPERM), REFUSE(SYS_semget, EPERM), REFUSE(SYS_mq_open, EPERM),
        REFUSE(SYS_add_key, EPERM), REFUSE(SYS_request_key, EPERM), REFUSE(SYS_keyctl, EPERM),
        /* Changes of files that need no open file. */
        REFUSE(SYS_truncate, EPERM), REFUSE(SYS_fchmod, EPERM), REFUSE(SYS_fchmodat, EPERM), REFUSE(SYS_fchown, EPERM),
        REFUSE(SYS_fchownat, EPERM), REFUSE(SYS_utimensat, EPERM), REFUSE(SYS_setxattr, EPERM),
        REFUSE(SYS_lsetxattr, EPERM), REFUSE(SYS_fsetxattr, EPERM), REFUSE(SYS_removexattr, EPERM),
        REFUSE(SYS_lremovexattr, EPERM), REFUSE(SYS_fremovexattr, EPERM), REFUSE(SYS_ioctl, ENOTTY),
#ifdef SYS_chmod
        REFUSE(SYS_chmod, EPERM), REFUSE(SYS_chown, EPERM), REFUSE(SYS_lchown, EPERM), REFUSE(SYS_utime, EPERM),
        REFUSE(SYS_utimes, EPERM), REFUSE(SYS_futimesat, EPERM),
#endif
#ifdef SYS_fchmodat2
        REFUSE(SYS_fchmodat2, EPERM),
#endif
        /* Parts of the kernel that such programs do not need. */
        REFUSE(SYS_io_uring_setup, ENOSYS), REFUSE(SYS_io_uring_enter, ENOSYS), REFUSE(SYS_io_uring_register, ENOSYS),
        REFUSE(SYS_bpf, EPERM), REFUSE(SYS_perf_event_open, EPERM), REFUSE(SYS_userfaultfd, EPERM),
        REFUSE(SYS_mount, EPERM), REFUSE(SYS_umount2, EPERM), REFUSE(SYS_pivot_root, EPERM), REFUSE(SYS_chroot, EPERM),
        REFUSE(SYS_move_mount, EPERM), REFUSE(SYS_open_tree, EPERM), REFUSE(SYS_fsopen, EPERM),
        REFUSE(SYS_mount_setattr, EPERM), REFUSE(SYS_unshare, EPERM), REFUSE(SYS_setns, EPERM),
        REFUSE(SYS_open_by_handle_at, EPERM), REFUSE(SYS_fanotify_init, EPERM),
        REFUSE(SYS_personality, EPERM), REFUSE(SYS_kexec_load, EPERM), REFUSE(SYS_init_module, EPERM),
        REFUSE(SYS_finit_module, EPERM), REFUSE(SYS_delete_module, EPERM), REFUSE(SYS_reboot, EPERM),
        REFUSE(SYS_swapon, EPERM), REFUSE(SYS_swapoff, EPERM), REFUSE(SYS_acct, EPERM), REFUSE(SYS_quotactl, EPERM),
        REFUSE(SYS_sethostname, EPERM), REFUSE(SYS_setdomainname, EPERM), REFUSE(SYS_settimeofday, EPERM),
        REFUSE(SYS_clock_settime, EPERM), REFUSE(SYS_clock_adjtime, EPERM), REFUSE(SYS_adjtimex, EPERM),
        /* The flags of clone3 are in memory, which a filter cannot read. Libraries fall back to clone. */
        REFUSE(SYS_clone3, ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD((uint32_t)offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
        RETURN(REFUSED(EPERM)),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_filter rules[(sizeof first + sizeof alone + sizeof client + sizeof rest) / sizeof *first];
    struct sock_fprog program = {(unsigned short)((sizeof first + size + sizeof rest) / sizeof *first), rules};
    char *place = (char *)rules;
    memcpy(place, first, sizeof first);
    memcpy(place + sizeof first, own, size);
    memcpy(place + sizeof first + size, rest, sizeof rest);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else

static const struct sock_filter alone[1], client[1];

static int filter_calls(const struct sock_filter *own, size_t size) {
    (void)own;
    (void)size;
    errno = ENOSYS;
    return -1;
}

#endif

static void allow(int rules, const char *path, uint64_t access) {
    struct stat status;
    struct landlock_path_beneath_attr place = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (place.parent_fd < 0) return;
    place.allowed_access = access;
    if (fstat(place.parent_fd, &status) == 0 && S_ISDIR(status.st_mode)) place.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &place, 0);
    close(place.parent_fd);
}

int linux_confine_program(const char *const *paths, int count) {
    /* All rights of the first version of Landlock. */
    struct landlock_ruleset_attr wanted = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int rules, result;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    rules = (int)syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0);
    if (rules < 0) return -1;
    for (int i = 0; i < count; i++) allow(rules, paths[i], LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE);
    allow(rules, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
    result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return result == 0 ? filter_calls(alone, sizeof alone) : -1;
}

int linux_confine_client(const char *const *paths, int count) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return linux_landlock_read_only(paths, count) == 0 ? filter_calls(client, sizeof client) : -1;
}
