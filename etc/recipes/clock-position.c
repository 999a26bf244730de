/* Prints the audible position every 10 ms from the clock page, nowplayingd-clock(7): a start for lights and lyrics.
   It sends one request, and none while the position moves.

       cc -o clock-position clock-position.c && ./clock-position "$XDG_RUNTIME_DIR/nowplayingd/control.sock" */
#define _GNU_SOURCE
#include <nowplayingd/clock.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Sends nowPlaying.map; returns the descriptor that comes with the answer, or -1. */
static int ask(int daemon) {
    static const char request[] = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"nowPlaying.map\"}\n";
    if (send(daemon, request, sizeof request - 1, MSG_NOSIGNAL) < 0) return -1;
    char answer[4096];
    union { struct cmsghdr head; char space[CMSG_SPACE(sizeof(int))]; } control;
    struct iovec bytes = {answer, sizeof answer};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(daemon, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_type != SCM_RIGHTS) return -1;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    return descriptor;
}

/* True if the daemon has ended or has closed the connection. */
static int has_ended(int daemon) {
    struct pollfd state = {.fd = daemon, .events = POLLRDHUP};
    return poll(&state, 1, 0) == 1;
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return fprintf(stderr, "usage: %s SOCKET\n", argv[0]), 2;
    strcpy(address.sun_path, argv[1]);
    int daemon = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(daemon, (struct sockaddr *)&address, sizeof address) != 0) return perror(argv[1]), 1;
    int descriptor = ask(daemon);
    if (descriptor < 0) return fprintf(stderr, "%s: no clock page\n", argv[1]), 1;
    void *page = mmap(NULL, NOWPLAYINGD_CLOCK_SIZE, PROT_READ, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED) return perror("mmap"), 1;

    struct nowplayingd_clock clock;
    while (!has_ended(daemon)) {
        if (!nowplayingd_clock_read(page, &clock)) continue;
        printf("%.3f\n", (double)nowplayingd_clock_position(&clock, nowplayingd_clock_now()) / 1e9);
        fflush(stdout);
        /* Each event wakes the wait at once. A standing position needs no output. */
        nowplayingd_clock_wait(page, clock.sequence, clock.rate != 0 ? 10000000 : 1000000000);
    }
    return 0;
}
