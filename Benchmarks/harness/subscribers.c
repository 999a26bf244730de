/* Many subscribers in one process: when does the first and when the last of them get an event?

   subscribers SOCKET COUNT TOKEN ARM REQUEST

   Opens COUNT connections and sends REQUEST (may be empty) on each. For each line of its input it sends ARM (may be empty) on each
   connection and waits until nothing arrives for 0.3 s. Then it sends the line on a connection of its own and reads until each
   connection got TOKEN. It prints the nanoseconds from the command to the first event, to the last one, and to the answer of
   the command, and the bytes that all connections got. In ARM and REQUEST, \n is a line end. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { quiet_milliseconds = 300, patience_milliseconds = 10000, maximum_connections = 8192 };

static int connection[maximum_connections + 1];
static char is_waiting[maximum_connections];
static char bytes[1 << 16];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int opened(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path) exit(2);
    strcpy(name.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(descriptor, (struct sockaddr *)&name, sizeof name) != 0) {
        if (errno != EAGAIN) fail("connect");
        usleep(1000);
    }
    return descriptor;
}

static char *unescaped(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        *to = *from;
        if (from[0] == '\\' && from[1] == 'n') *to = '\n', from++;
    }
    *to = 0;
    return text;
}

static void say(int descriptor, const char *text) {
    size_t length = strlen(text);
    if (length && send(descriptor, text, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

/* Bytes that have arrived on a connection, as a string in `bytes`. */
static ssize_t received(int descriptor) {
    ssize_t length = recv(descriptor, bytes, sizeof bytes - 1, MSG_DONTWAIT);
    if (length == 0) {
        fprintf(stderr, "the player closed a connection\n");
        exit(1);
    }
    if (length > 0) bytes[length] = 0;
    return length;
}

int main(int words, char **word) {
    if (words != 6) return 2;
    int count = atoi(word[2]);
    if (count < 1 || count > maximum_connections) return 2;
    const char *token = word[3], *arm = unescaped(word[4]), *request = unescaped(word[5]);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int all = epoll_create1(EPOLL_CLOEXEC);
    for (int number = 0; number <= count; number++) {
        connection[number] = opened(word[1]);
        struct epoll_event watched = {.events = EPOLLIN, .data.u32 = (uint32_t)number};
        if (epoll_ctl(all, EPOLL_CTL_ADD, connection[number], &watched) != 0) fail("epoll_ctl");
        if (number < count) say(connection[number], request);
    }
    static struct epoll_event ready[256];
    char line[4096];
    for (int is_armed = 0;; is_armed = 1) {
        if (is_armed) {
            if (!fgets(line, sizeof line, stdin)) return 0;
            for (int number = 0; number < count; number++) say(connection[number], arm);
        }
        for (int some; (some = epoll_wait(all, ready, 256, quiet_milliseconds)) > 0;)
            for (int index = 0; index < some; index++) received(connection[ready[index].data.u32]);
        if (!is_armed) {
            printf("ready\n");
            fflush(stdout);
            continue;
        }
        memset(is_waiting, 1, (size_t)count);
        int waiting = count, is_answered = 0;
        int64_t first = 0, last = 0, answered = 0, total = 0, begun = now();
        say(connection[count], line);
        while (waiting > 0 || !is_answered) {
            int some = epoll_wait(all, ready, 256, patience_milliseconds);
            if (some <= 0) fail("an event");
            for (int index = 0; index < some; index++) {
                uint32_t number = ready[index].data.u32;
                ssize_t length = received(connection[number]);
                if (length < 0) continue;
                if (number == (uint32_t)count) {
                    is_answered = 1;
                    answered = now();
                    continue;
                }
                total += length;
                if (!is_waiting[number] || !strstr(bytes, token)) continue;
                is_waiting[number] = 0;
                last = now();
                if (waiting-- == count) first = last;
            }
        }
        printf("%lld %lld %lld %lld\n", (long long)(first - begun), (long long)(last - begun), (long long)(answered - begun),
               (long long)total);
        fflush(stdout);
    }
}
