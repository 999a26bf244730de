/* One writer of a clock page, two readers, five seconds: counts copies that pass as whole and are not. Status 1 if there is one. */
#include "CLinux.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const void *page;
static atomic_int ends;
static atomic_long reads, torn;

static void *read_page(void *unused) {
    struct nowplayingd_clock copy;
    long count = 0, wrong = 0;
    while (!ends) {
        if (!nowplayingd_clock_read(page, &copy)) continue;
        count++;
        wrong += copy.elapsed != copy.duration || (uint64_t)copy.elapsed != copy.seq;
    }
    reads += count;
    torn += wrong;
    return unused;
}

int main(void) {
    int descriptor;
    void *own = linux_clock_page_make(&descriptor);
    if (!own || !(page = linux_clock_page_map(descriptor))) return 2;
    struct nowplayingd_clock clock;
    memset(&clock, 0, sizeof clock);
    linux_clock_page_write(own, &clock);
    pthread_t readers[2];
    for (int i = 0; i < 2; i++) pthread_create(&readers[i], NULL, read_page, NULL);
    long writes = 0;
    for (int64_t end = nowplayingd_clock_now() + 5000000000; nowplayingd_clock_now() < end; writes++) {
        clock.seq++;
        clock.elapsed = clock.duration = (int64_t)clock.seq;
        linux_clock_page_write(own, &clock);
        if (writes % 16 == 0) usleep(1);
    }
    ends = 1;
    for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
    printf("%ld writes, %ld reads, %ld torn\n", writes, (long)reads, (long)torn);
    return torn != 0 || reads == 0;
}
