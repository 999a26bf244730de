#define _GNU_SOURCE
#include "CLinux.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

_Static_assert(sizeof(struct nowplayingd_clock) == 144, "nowplayingd-clock(7) has the offset of each field");
_Static_assert(offsetof(struct nowplayingd_clock, seq) == 16, "nowplayingd-clock(7) has the offset of each field");
_Static_assert(offsetof(struct nowplayingd_clock, boot_id) == 120, "nowplayingd-clock(7) has the offset of each field");

void *linux_clock_page_make(int *descriptor) {
    int file = memfd_create("nowplaying-clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return NULL;
    void *page = MAP_FAILED;
    if (ftruncate(file, NOWPLAYINGD_CLOCK_SIZE) == 0)
        page = mmap(NULL, NOWPLAYINGD_CLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    /* This mapping is older than the seals, so only this mapping is writable. */
    if (page == MAP_FAILED ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
        int code = errno;
        if (page != MAP_FAILED) munmap(page, NOWPLAYINGD_CLOCK_SIZE);
        close(file);
        errno = code;
        return NULL;
    }
    /* Without /proc, readers get the first descriptor; the seals protect the file. */
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (*descriptor >= 0) close(file);
    else *descriptor = file;
    return page;
}

const void *linux_clock_page_map(int descriptor) {
    void *page = mmap(NULL, NOWPLAYINGD_CLOCK_SIZE, PROT_READ, MAP_SHARED, descriptor, 0);
    return page == MAP_FAILED ? NULL : page;
}

void linux_clock_page_unmap(const void *page) { munmap((void *)page, NOWPLAYINGD_CLOCK_SIZE); }

void linux_clock_page_write(void *page, struct nowplayingd_clock *clock) {
    nowplayingd_clock_word *words = page;
    clock->sequence = words[0] + 2;
    clock->checksum = nowplayingd_clock_checksum(clock);
    const nowplayingd_clock_word *fresh = (const nowplayingd_clock_word *)(const void *)clock;
    /* A sequence lock: H.-J. Boehm, "Can Seqlocks Get Along With Programming Language Memory Models?", 2012. */
    __atomic_store_n(words, clock->sequence - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (size_t i = 1; i < NOWPLAYINGD_CLOCK_WORDS; i++) __atomic_store_n(words + i, fresh[i], __ATOMIC_RELAXED);
    __atomic_store_n(words, clock->sequence, __ATOMIC_RELEASE);
}

void linux_clock_page_wake(void *page) { syscall(SYS_futex, page, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }
