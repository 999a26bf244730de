/* See Tracing.h; ptrace(2). */
#define _GNU_SOURCE
#include "Tracing.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

bool tracing_stop_at_odd(pid_t thread, const void *word, int64_t instructions) {
    const uint32_t *sequence = word;
    int status = 0;
    if (ptrace(PTRACE_ATTACH, thread, NULL, NULL) != 0 || waitpid(thread, &status, __WALL) != thread) return false;
    /* The stop of the attachment is the debugger's; signals that come later are the process's own. */
    int given = 0;
    for (int64_t count = 0; count < instructions; count++) {
        if (__atomic_load_n(sequence, __ATOMIC_ACQUIRE) % 2 == 1)
            return ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)SIGSTOP) == 0;
        if (ptrace(PTRACE_SINGLESTEP, thread, NULL, (void *)(intptr_t)given) != 0) return false;
        if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return false;
        given = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    }
    ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)given);
    return false;
}
