/* Threads that wait for a clock page, and the least that can wake them.

   waiters wait SOCKET COUNT   maps the page and lets COUNT threads sleep on it. For each line of its input it prints `ready` once
                               all sleep, and then the instants (ns of CLOCK_MONOTONIC) of the first and the last awake.
   waiters crowd SOCKET COUNT  the same without a word after the first `ready`: all sleep again at once, until the input ends.
   waiters wake SOCKET         a daemon that does nothing else: it answers nowPlaying.map with a page, and each other line with
                               one change of the page, one FUTEX_WAKE, and a line. */
#define _GNU_SOURCE
#include "../../etc/include/nowplayingd/clock.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>

static const void *page;
static int count;
static uint32_t round_number, armed, awake;
static int64_t first, last;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void futex(const void *word, int operation, uint32_t value) {
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static uint32_t sequence(void) { return __atomic_load_n((const uint32_t *)page, __ATOMIC_ACQUIRE); }

static struct sockaddr_un address(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) exit(2);
    strcpy(address.sun_path, path);
    return address;
}

static int page_of(const char *path) {
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nowPlaying.map\"}\n";
    struct sockaddr_un name = address(path);
    int daemon = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(daemon, (struct sockaddr *)&name, sizeof name) != 0) fail("connect");
    if (write(daemon, request, sizeof request - 1) != sizeof request - 1) fail("write");
    char line[4096], control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {line, sizeof line};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(daemon, &message, 0) <= 0) fail("recvmsg");
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS) fail("no page");
    int file;
    memcpy(&file, CMSG_DATA(header), sizeof file);
    page = mmap(NULL, NOWPLAYINGD_CLOCK_SIZE, PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) fail("mmap");
    return daemon;
}

static void *waiter(void *unused) {
    (void)unused;
    uint32_t done = 0;
    for (;;) {
        uint32_t wanted;
        while ((wanted = __atomic_load_n(&round_number, __ATOMIC_ACQUIRE)) == done) futex(&round_number, FUTEX_WAIT_PRIVATE, done);
        uint32_t seen = sequence();
        __atomic_add_fetch(&armed, 1, __ATOMIC_RELEASE);
        while (sequence() == seen) futex(page, FUTEX_WAIT, seen);
        int64_t now = nowplayingd_clock_now(), before = 0;
        __atomic_compare_exchange_n(&first, &before, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        before = __atomic_load_n(&last, __ATOMIC_RELAXED);
        while (before < now && !__atomic_compare_exchange_n(&last, &before, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
        __atomic_add_fetch(&awake, 1, __ATOMIC_RELEASE);
        done = wanted;
    }
    return NULL;
}

static void *crowd(void *unused) {
    (void)unused;
    uint32_t seen = sequence();
    __atomic_add_fetch(&armed, 1, __ATOMIC_RELEASE);
    for (;; seen = sequence()) futex(page, FUTEX_WAIT, seen);
    return NULL;
}

static void start(void *(*act)(void *)) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    pthread_t thread;
    for (int number = 0; number < count; number++)
        if (pthread_create(&thread, &small, act, NULL) != 0) fail("pthread_create");
}

static void until(const uint32_t *value) {
    while (__atomic_load_n(value, __ATOMIC_ACQUIRE) < (uint32_t)count) usleep(1000);
}

static void serve(const char *path) {
    struct sockaddr_un name = address(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), file = memfd_create("clock", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, NOWPLAYINGD_CLOCK_SIZE) != 0) fail("memfd_create");
    uint32_t *word = mmap(NULL, NOWPLAYINGD_CLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (word == MAP_FAILED) fail("mmap");
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, 8) != 0) fail("bind");
    printf("ready\n");
    fflush(stdout);
    fd_set all;
    FD_ZERO(&all);
    FD_SET(listener, &all);
    for (;;) {
        fd_set ready = all;
        if (select(FD_SETSIZE, &ready, NULL, NULL, NULL) < 0) fail("select");
        for (int client = 0; client < FD_SETSIZE; client++) {
            if (!FD_ISSET(client, &ready)) continue;
            if (client == listener) {
                int new = accept(listener, NULL, NULL);
                if (new < 0) fail("accept");
                FD_SET(new, &all);
                continue;
            }
            char line[4096];
            ssize_t length = read(client, line, sizeof line - 1);
            if (length <= 0) {
                FD_CLR(client, &all);
                close(client);
                continue;
            }
            line[length] = 0;
            if (!strstr(line, "nowPlaying.map")) {
                __atomic_add_fetch(word, 2, __ATOMIC_RELEASE);
                futex(word, FUTEX_WAKE, INT_MAX);
                if (write(client, "{\"result\":{}}\n", 14) != 14) fail("write");
                continue;
            }
            struct iovec part = {(void *)"{\"result\":{}}\n", 14};
            char control[CMSG_SPACE(sizeof(int))] = {0};
            struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            struct cmsghdr *header = CMSG_FIRSTHDR(&message);
            *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
            memcpy(CMSG_DATA(header), &file, sizeof file);
            if (sendmsg(client, &message, 0) != 14) fail("sendmsg");
        }
    }
}

int main(int words, char **word) {
    if (words == 3 && strcmp(word[1], "wake") == 0) serve(word[2]);
    if (words != 4 || (count = atoi(word[3])) < 1) return 2;
    page_of(word[2]);
    int is_crowd = strcmp(word[1], "crowd") == 0;
    start(is_crowd ? crowd : waiter);
    char line[64];
    if (is_crowd) {
        until(&armed);
        printf("ready\n");
        fflush(stdout);
        while (fgets(line, sizeof line, stdin)) {}
        return 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        armed = awake = 0;
        first = last = 0;
        __atomic_add_fetch(&round_number, 1, __ATOMIC_RELEASE);
        futex(&round_number, FUTEX_WAKE_PRIVATE, INT_MAX);
        until(&armed);
        usleep(100000);
        printf("ready\n");
        fflush(stdout);
        until(&awake);
        printf("%lld %lld\n", (long long)first, (long long)last);
        fflush(stdout);
    }
    return 0;
}
