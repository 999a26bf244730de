/* See Tracing.h; ptrace(2). */
#define _GNU_SOURCE
#include "Tracing.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>

static bool is_odd(const void *word) { return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE) % 2 == 1; }

/* Address at which the child has mapped the beginning of the file; 0: it has not. */
static uintptr_t address_of(pid_t child, int file) {
    char path[64], line[512];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
    FILE *maps = fstat(file, &status) == 0 ? fopen(path, "re") : NULL;
    uintptr_t found = 0;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long start, offset, inode;
        if (sscanf(line, "%lx-%*x %*s %lx %*s %lu", &start, &offset, &inode) == 3 && inode == status.st_ino && !offset)
            found = start;
    }
    if (maps) fclose(maps);
    return found;
}

/* Lets the thread go on by this request, with the signals that are its own, until the processor stops it. */
static bool go_on(pid_t child, int request, int *given) {
    int status = 0;
    do {
        if (ptrace(request, child, NULL, (void *)(intptr_t)*given) != 0) return false;
        if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status)) return false;
        *given = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    } while (request == PTRACE_CONT && *given != 0);
    return true;
}

/* Makes the processor stop the thread after each write to four bytes; 0: after none. False: this processor has no register for it. */
static bool watch(pid_t child, uintptr_t address) {
#ifdef __x86_64__
    const size_t registers = offsetof(struct user, u_debugreg);
    /* Register 0, of this thread alone, after a write, of four bytes. */
    const uintptr_t control = address ? 1 | 1 << 16 | 3 << 18 : 0;
    return (!address || ptrace(PTRACE_POKEUSER, child, registers, address) == 0)
        && ptrace(PTRACE_POKEUSER, child, registers + 7 * sizeof(uintptr_t), control) == 0;
#else
    (void)child, (void)address;
    return false;
#endif
}

bool tracing_stop_at_odd(pid_t child, int file, const void *word, int64_t instructions) {
    const uintptr_t address = address_of(child, file);
    int status = 0, given = 0;
    if (!address || ptrace(PTRACE_ATTACH, child, NULL, NULL) != 0 || waitpid(child, &status, __WALL) != child) return false;
    const bool watches = watch(child, address);
    const int request = watches ? PTRACE_CONT : PTRACE_SINGLESTEP;
    for (int64_t count = 0; count < instructions && !is_odd(word); count++)
        if (!go_on(child, request, &given)) return false;
    if (watches) watch(child, 0);
    const bool found = is_odd(word);
    return ptrace(PTRACE_DETACH, child, NULL, (void *)(intptr_t)(found ? SIGSTOP : given)) == 0 && found;
}
