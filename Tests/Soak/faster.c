/* A library for LD_PRELOAD: the clocks of the process run SOAK_PACE times as fast, and so do the timers that it arms by
 * timerfd_settime(2), which are all that nowplayingd and its bridges have. What it plays into nothing is played as much
 * faster. CLOCK_MONOTONIC is what the machine's shows times the pace, so everybody who is told the pace can read it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>

static int64_t pace = 1;
static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_create)(int, int);
static int (*real_set)(int, int, const struct itimerspec *, struct itimerspec *);
/* Which timers there are: those of CLOCK_MONOTONIC. */
static char is_monotonic[65536];

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("SOAK_PACE");
    if (text && atoll(text) > 0) pace = atoll(text);
    real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    real_create = (int (*)(int, int))dlsym(RTLD_NEXT, "timerfd_create");
    real_set = (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
}

static int64_t number(struct timespec time) { return time.tv_sec * (int64_t)1000000000 + time.tv_nsec; }
static struct timespec instant(int64_t number) {
    return (struct timespec){.tv_sec = number / 1000000000, .tv_nsec = number % 1000000000};
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!real_clock) begin();
    int result = real_clock(clock, time);
    if (result != 0 || pace == 1) return result;
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) {
        *time = instant(number(*time) * pace);
    } else if (clock == CLOCK_REALTIME) {
        struct timespec monotonic;
        real_clock(CLOCK_MONOTONIC, &monotonic);
        *time = instant(number(*time) + number(monotonic) * (pace - 1));
    }
    return 0;
}

int timerfd_create(int clock, int flags) {
    if (!real_create) begin();
    int timer = real_create(clock, flags);
    if (timer >= 0 && timer < (int)sizeof is_monotonic)
        is_monotonic[timer] = clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
    return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    if (!real_set) begin();
    struct itimerspec slower = *wanted;
    if (timer < (int)sizeof is_monotonic && is_monotonic[timer]) {
        int64_t due = number(wanted->it_value);
        slower.it_value = instant((due + pace - 1) / pace);
        slower.it_interval = instant(number(wanted->it_interval) / pace);
    }
    return real_set(timer, flags, &slower, before);
}
