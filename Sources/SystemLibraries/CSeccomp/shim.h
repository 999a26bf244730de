#include <errno.h>
#include <seccomp.h>

/* Macros that Swift does not import. */
static const uint32_t seccomp_allow = SCMP_ACT_ALLOW;
static inline uint32_t seccomp_refuse(uint16_t error) { return SCMP_ACT_ERRNO(error); }
/* CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND and CLONE_THREAD of <linux/sched.h>: what a new thread has, and a new
   process has not. */
static const uint64_t confined_thread_flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000;
