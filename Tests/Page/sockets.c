/* WebSockets in one process, all of which wait for a pause: how late each of them has it.
   usage: sockets PORT COUNT ROUNDS    prints the milliseconds of each round: the median of the sockets, and the last of them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { SPACE = 1 << 16 };

struct peer {
    int socket;
    size_t count;
    int waits; /* for this cause */
    char bytes[SPACE];
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void send_text(int socket, const char *text) {
    unsigned char frame[256] = {0x81};
    size_t length = strlen(text), head = 6;
    if (length < 126) frame[1] = 0x80 | length;
    else frame[1] = 0x80 | 126, frame[2] = length >> 8, frame[3] = length & 255, head = 8;
    /* The mask is 0: it changes nothing. */
    memcpy(frame + head, text, length);
    if (write(socket, frame, head + length) != (ssize_t)(head + length)) fail("write");
}

static void open_peer(struct peer *peer, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char request[256];
    int one = 1, size = snprintf(request, sizeof request,
        "GET /rpc HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", port);
    peer->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(peer->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(peer->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (write(peer->socket, request, size) != size) fail("write");
    do {
        ssize_t got = read(peer->socket, peer->bytes + peer->count, 1);
        if (got != 1) fail("handshake");
        peer->count++;
    } while (peer->count < 4 || memcmp(peer->bytes + peer->count - 4, "\r\n\r\n", 4) != 0);
    if (memcmp(peer->bytes, "HTTP/1.1 101", 12) != 0) errno = EPROTO, fail("handshake");
    peer->count = 0;
    send_text(peer->socket, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nowPlaying.subscribe\"}");
}

/* Takes the received bytes. Returns 1 if they contain a whole text with these words. */
static int take(struct peer *peer, const char *words) {
    int found = 0;
    ssize_t got = read(peer->socket, peer->bytes + peer->count, SPACE - peer->count);
    if (got <= 0) fail("read");
    peer->count += got;
    for (;;) {
        size_t length = peer->count < 2 ? 0 : peer->bytes[1] & 127, head = 2;
        if (length == 126 && peer->count >= 4) length = (uint8_t)peer->bytes[2] << 8 | (uint8_t)peer->bytes[3], head = 4;
        if (peer->count < head || peer->count < head + length || (head == 2 && length == 126)) return found;
        found |= memmem(peer->bytes + head, length, words, strlen(words)) != NULL;
        peer->count -= head + length;
        memmove(peer->bytes, peer->bytes + head + length, peer->count);
    }
}

/* Waits until all have a text with these words; the milliseconds of each since `start`. */
static void await(int set, struct peer *peers, int count, const char *words, double start, double *late) {
    int left = count;
    for (int i = 0; i < count; i++) peers[i].waits = 1;
    while (left > 0) {
        struct epoll_event events[64];
        int ready = epoll_wait(set, events, 64, 20000);
        if (ready <= 0) errno = ETIMEDOUT, fail(words);
        for (int i = 0; i < ready; i++) {
            struct peer *peer = events[i].data.ptr;
            if (!take(peer, words) || !peer->waits) continue;
            peer->waits = 0;
            late[count - left--] = now() - start;
        }
    }
}

int main(int argc, char **arguments) {
    if (argc != 4) return 2;
    int port = atoi(arguments[1]), count = atoi(arguments[2]), rounds = atoi(arguments[3]), set = epoll_create1(EPOLL_CLOEXEC);
    struct peer *peers = calloc(count, sizeof *peers);
    double *late = calloc(count, sizeof *late);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &peers[i]};
        open_peer(&peers[i], port);
        if (epoll_ctl(set, EPOLL_CTL_ADD, peers[i].socket, &event) != 0) fail("epoll_ctl");
    }
    await(set, peers, count, "\"result\"", now(), late);
    for (int round = 0; round < rounds; round++) {
        send_text(peers[0].socket, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"play\"}");
        await(set, peers, count, "\"state\":\"playing\"", now(), late);
        double start = now();
        send_text(peers[0].socket, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"pause\"}");
        await(set, peers, count, "\"state\":\"paused\"", start, late);
        printf("%.2f %.2f\n", late[count / 2], late[count - 1]);
    }
    fflush(stdout);
    /* The sockets stay open until the caller is done. */
    return getchar() == 0;
}
