#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Only what signal-safety(7) allows happens in the handler: clock_gettime, write, sigaction, and tgkill by its number. */

static const int faults[] = {SIGSEGV, SIGILL, SIGBUS, SIGABRT, SIGTRAP, SIGFPE};
enum { fault_count = sizeof faults / sizeof *faults };
static struct sigaction before[fault_count];
static atomic_int note_file = -1;
static _Atomic int64_t note_until = INT64_MAX;

static void note_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    struct timespec now;
    /* Two threads may fault at once: the process dies once. */
    int file = atomic_exchange(&note_file, -1);
    if (file >= 0 && clock_gettime(CLOCK_MONOTONIC, &now) == 0 &&
        (int64_t)now.tv_sec * 1000000000 + now.tv_nsec < atomic_load(&note_until)) {
        ssize_t written = write(file, "+", 1);
        (void)written;
    }
    for (int i = 0; i < fault_count; i++)
        if (faults[i] == number) sigaction(number, &before[i], NULL);
    /* A fault of the processor happens again on return, at the same instruction; what was sent is sent again. */
    if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    errno = error;
}

int linux_note_faults(int file) {
    atomic_store(&note_file, file);
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
