#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The handler calls only functions that signal-safety(7) allows: clock_gettime, openat, write, sigaction, and tgkill by its
   number. It opens the file only at the fault, so that the disk can be remounted read-only before. */

static const int faults[] = {SIGSEGV, SIGILL, SIGBUS, SIGABRT, SIGTRAP, SIGFPE};
enum { fault_count = sizeof faults / sizeof *faults };
static struct sigaction before[fault_count];
static atomic_int note_folder = -1;
static char note_name[64];
static _Atomic int64_t note_until = INT64_MAX;

static void note_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    struct timespec now;
    /* Two threads may fault at once: the process dies once. */
    int folder = atomic_exchange(&note_folder, -1);
    if (folder >= 0 && clock_gettime(CLOCK_MONOTONIC, &now) == 0 &&
        (int64_t)now.tv_sec * 1000000000 + now.tv_nsec < atomic_load(&note_until)) {
        int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
        int file = openat(folder, note_name, flags, 0600);
        ssize_t written = file < 0 ? 0 : write(file, "+", 1);
        (void)written;
    }
    for (int i = 0; i < fault_count; i++)
        if (faults[i] == number) sigaction(number, &before[i], NULL);
    /* A processor fault happens again at the same instruction after the return. A sent signal is sent again. */
    if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    errno = error;
}

int linux_note_faults(int folder, const char *name) {
    if (strlen(name) >= sizeof note_name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(note_name, name);
    atomic_store(&note_folder, folder);
    linux_use_fault_stack();
    struct sigaction action = {0};
    action.sa_sigaction = note_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < fault_count; i++)
        if (sigaction(faults[i], &action, &before[i]) != 0) return -1;
    return 0;
}

void linux_note_faults_until(int64_t time) { atomic_store(&note_until, time); }

void linux_use_fault_stack(void) {
    static _Thread_local char memory[16384] __attribute__((aligned(16)));
    stack_t known;
    if (sigaltstack(NULL, &known) != 0 || !(known.ss_flags & SS_DISABLE)) return;
    stack_t own = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&own, NULL);
}
