/* The clock page of nowplayingd: the position of the audible sound in shared memory. nowplayingd-clock(7) describes it.

   nowPlaying.map answers with a descriptor of one page, to be mapped read-only. The daemon writes it at each event and never
   on a tick. A reader computes the position with no system call but clock_gettime(2). */
#ifndef NOWPLAYINGD_CLOCK_H
#define NOWPLAYINGD_CLOCK_H

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layout that this file describes, as nowPlaying.map names it. */
#define NOWPLAYINGD_CLOCK_LAYOUT 1
/* Bytes of the page. */
#define NOWPLAYINGD_CLOCK_SIZE 4096

/* Values of `state`. */
enum nowplayingd_clock_state {
    NOWPLAYINGD_CLOCK_STOPPED = 0,
    NOWPLAYINGD_CLOCK_PLAYING = 1,
    NOWPLAYINGD_CLOCK_PAUSED = 2,
    NOWPLAYINGD_CLOCK_INTERRUPTED = 3,
    NOWPLAYINGD_CLOCK_STALLED = 4,
    /* The session was closed; the page does not change any more. */
    NOWPLAYINGD_CLOCK_ENDED = 5
};

/* Bits of `flags`. */
#define NOWPLAYINGD_CLOCK_MUTED 1u
/* An advertisement is audible: the position stands. */
#define NOWPLAYINGD_CLOCK_AD 2u

/* The page, in the byte order of the machine. All instants are nanoseconds of CLOCK_MONOTONIC. */
struct nowplayingd_clock {
    /* Even: the page is stable. Odd: it is being written. Changes with each event; the word of futex(2). */
    uint32_t sequence;
    /* Over `sequence` and all bytes from `layout` on, see nowplayingd_clock_checksum. */
    uint32_t checksum;
    uint32_t layout;
    /* enum nowplayingd_clock_state. */
    uint32_t state;
    /* The number of the state, `seq` on the socket. */
    uint64_t seq;
    /* Position at `monotonic`, in nanoseconds of the item. */
    int64_t elapsed;
    /* Length of the item in nanoseconds; -1: unknown or without end. */
    int64_t duration;
    /* The instant at which `elapsed` is audible. */
    int64_t monotonic;
    /* Seconds of the item per second; 0 while the position stands. */
    double rate;
    /* The rate to which `play` returns. */
    double default_rate;
    /* Relative excess speed of the device's clock over CLOCK_MONOTONIC. */
    double skew;
    /* The instant at which the audible advertisement ends; 0: none is audible, or it stands. */
    int64_t ad_ends;
    /* Id of the item; 0: there is none. */
    int64_t item;
    /* The instant at which the next item becomes audible by itself; 0: unknown. */
    int64_t next_item;
    /* 0 to 1, on the cubic scale of the sound server. */
    double volume;
    uint32_t flags;
    /* The daemon: process, start time in clock ticks since the boot (field 22 of /proc/PID/stat), boot, run. */
    uint32_t pid;
    uint64_t start_time;
    uint8_t boot_id[16];
    /* `instance` of the states, a number of 16 hexadecimal digits. */
    uint64_t instance;
};

#define NOWPLAYINGD_CLOCK_WORDS (sizeof(struct nowplayingd_clock) / sizeof(uint32_t))

/* A word of a page. The page has fields of other types, too, so the compiler must not assume that the two differ. */
#ifdef __GNUC__
typedef uint32_t __attribute__((__may_alias__)) nowplayingd_clock_word;
#else
typedef uint32_t nowplayingd_clock_word;
#endif

/* The checksum of a page: FNV-1a over its words of 32 bits, without the checksum itself. A reader without memory barriers
   compares it; with nowplayingd_clock_read a torn read is impossible. */
static inline uint32_t nowplayingd_clock_checksum(const struct nowplayingd_clock *clock) {
    const nowplayingd_clock_word *words = (const nowplayingd_clock_word *)(const void *)clock;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < NOWPLAYINGD_CLOCK_WORDS; i++)
        if (i != offsetof(struct nowplayingd_clock, checksum) / sizeof(uint32_t)) sum = (sum ^ words[i]) * 16777619u;
    return sum;
}

/* Copies the page. 1: the copy is whole. 0: the page stayed odd; look for the end of the connection, as the daemon was killed
   while it wrote, or has not had the processor for milliseconds. */
static inline int nowplayingd_clock_read(const void *page, struct nowplayingd_clock *copy) {
    const nowplayingd_clock_word *words = (const nowplayingd_clock_word *)page;
    for (int attempt = 0; attempt < 1000; attempt++) {
        uint32_t before = __atomic_load_n(words, __ATOMIC_ACQUIRE);
        if (before % 2 == 0) {
            for (size_t i = 1; i < NOWPLAYINGD_CLOCK_WORDS; i++)
                ((nowplayingd_clock_word *)(void *)copy)[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            copy->sequence = before;
            if (__atomic_load_n(words, __ATOMIC_RELAXED) == before) return 1;
        }
        if (attempt > 100) sched_yield();
    }
    return 0;
}

/* The present instant, nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t nowplayingd_clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The audible position at an instant, nanoseconds of the item: 0 to `duration` for all values of the fields. */
static inline int64_t nowplayingd_clock_position(const struct nowplayingd_clock *copy, int64_t instant) {
    double passed = instant > copy->monotonic ? (double)((uint64_t)instant - (uint64_t)copy->monotonic) : 0;
    double position = (double)copy->elapsed + copy->rate * (1 + copy->skew) * passed;
    if (copy->duration >= 0 && position > (double)copy->duration) return copy->duration;
    if (!(position > 0)) return 0;
    return position < 0x1p63 ? (int64_t)position : INT64_MAX;
}

/* Sleeps until the sequence is another one, for `timeout` nanoseconds at most. It may return early: read the page again. The
   timeout bounds the wait for a daemon that was killed, which wakes nobody. */
static inline void nowplayingd_clock_wait(const void *page, uint32_t sequence, int64_t timeout) {
    int saved = errno;
#if defined(SYS_futex_time64) && !defined(__LP64__)
    struct { int64_t tv_sec, tv_nsec; } wait = {timeout / 1000000000, timeout % 1000000000};
    syscall(SYS_futex_time64, page, FUTEX_WAIT, sequence, &wait, NULL, 0);
#else
    struct timespec wait = {(time_t)(timeout / 1000000000), (long)(timeout % 1000000000)};
    syscall(SYS_futex, page, FUTEX_WAIT, sequence, &wait, NULL, 0);
#endif
    errno = saved;
}

#ifdef __cplusplus
}
#endif
#endif
