/* A library for LD_PRELOAD: the FLAC decoder ends the process while there is a file CRASH_FILE. The file holds the number of
   the signal and the seconds by which the process's monotonic clock is ahead when it dies: "11 0". 11 is a real fault of the
   processor; the others are raised. If a path follows, "11 0 /music", the one that dies is the search for pictures in that
   folder. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int ahead;

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_MONOTONIC) time->tv_sec += ahead;
    return result;
}

/* Ends the process if the file names this folder ("": no folder). */
static void die_in(const char *folder) {
    const char *path = getenv("CRASH_FILE");
    FILE *file = path ? fopen(path, "re") : NULL;
    int number = 0, seconds = 0;
    char place[4096] = "";
    if (file && fscanf(file, "%d %d %4095s", &number, &seconds, place) >= 2 && !strcmp(place, folder)) {
        /* A test that starts the daemon sees it answer first. */
        sleep(1);
        ahead = seconds;
        if (number == SIGSEGV) *(volatile int *)8 = 1;
        raise(number);
    }
    if (file) fclose(file);
}

/* The daemon opens the library of the decoder by its name, late: it gets this one, beneath which that one lies. */
void *dlopen(const char *name, int mode) {
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    Dl_info own;
    if (name && strstr(name, "libFLAC.so") && dladdr((void *)die_in, &own)) name = own.dli_fname;
    return real(name, mode);
}

DIR *opendir(const char *folder) {
    die_in(folder);
    DIR *(*real)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");
    return real(folder);
}

void *FLAC__stream_decoder_new(void) {
    die_in("");
    void *(*real)(void) = (void *(*)(void))dlsym(RTLD_NEXT, "FLAC__stream_decoder_new");
    return real();
}
