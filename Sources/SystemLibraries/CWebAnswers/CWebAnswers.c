/* libmicrohttpd sends by sendmsg(2), or by gnutls_record_send() over TLS. The dynamic linker uses both of the program if it
   has them. These functions pass on all bytes, except the errors that libmicrohttpd makes itself: the beginning of an answer on
   a connection of HTTP that has no answer of the bridge. */
#define _GNU_SOURCE
#include "CWebAnswers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char page[] = "<html><head><title>";

static int begins(const void *bytes, size_t length, const char *start) {
    size_t count = strlen(start);
    return bytes != NULL && length >= count && memcmp(bytes, start, count) == 0;
}

int web_is_foreign_answer(int socket, const void *bytes, size_t length) {
    if (!begins(bytes, length, "HTTP/1.1 4") && !begins(bytes, length, "HTTP/1.1 5")) return 0;
    return web_owes_answer(socket);
}

static const char *words(int status) {
    switch (status) {
    case 413: return "the body of the request is too long";
    case 414: return "the target of the request is too long";
    case 431: return "the head of the request is too long";
    case 505: return "the version of HTTP has to be 1.1";
    default: return status < 500 ? "this is no valid request of HTTP/1.1" : "the request cannot be served now; try again later";
    }
}

size_t web_own_answer(const void *bytes, size_t length, char *space, size_t size) {
    int status = 0;
    char reason[48] = "", line[80] = "";
    memcpy(line, bytes, length < sizeof line - 1 ? length : sizeof line - 1);
    if (sscanf(line, "HTTP/1.1 %3d %47[^\r\n]", &status, reason) != 2) status = 400, strcpy(reason, "Bad Request");
    const char *text = words(status);
    int count = snprintf(space, size,
        "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; sandbox\r\n"
        "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        "X-Frame-Options: DENY\r\nContent-Length: %zu\r\n\r\n%s\n",
        status, reason, strlen(text) + 1, text);
    return count < 0 ? 0 : (size_t)count < size ? (size_t)count : size - 1;
}

/* A short answer on an idle connection is sent at once, or is lost with the connection. */
__attribute__((visibility("default"))) ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    const struct iovec *first = message != NULL && message->msg_iovlen > 0 ? message->msg_iov : NULL;
    if (first == NULL || !web_is_foreign_answer(socket, first->iov_base, first->iov_len))
        return syscall(SYS_sendmsg, socket, message, flags);
    char answer[1024];
    size_t length = web_own_answer(first->iov_base, first->iov_len, answer, sizeof answer);
    if (syscall(SYS_sendto, socket, answer, length, flags & ~MSG_MORE, NULL, 0) < 0) return -1;
    size_t all = 0;
    for (size_t i = 0; i < (size_t)message->msg_iovlen; i++) all += message->msg_iov[i].iov_len;
    return (ssize_t)all;
}

typedef struct gnutls_session *session;

/* Over TLS, the body comes in a separate call directly after the head. That call drops it. */
__attribute__((visibility("default"))) ssize_t gnutls_record_send(session tls, const void *bytes, size_t length) {
    static ssize_t (*next)(session, const void *, size_t);
    static int (*descriptor)(session);
    static session replaced;
    if (next == NULL) next = (ssize_t(*)(session, const void *, size_t))dlsym(RTLD_NEXT, "gnutls_record_send");
    if (descriptor == NULL) descriptor = (int (*)(session))dlsym(RTLD_NEXT, "gnutls_transport_get_int");
    if (next == NULL || descriptor == NULL) return -1;
    if (replaced == tls && begins(bytes, length, page)) {
        replaced = NULL;
        return (ssize_t)length;
    }
    if (!web_is_foreign_answer(descriptor(tls), bytes, length)) return next(tls, bytes, length);
    char answer[1024];
    ssize_t sent = next(tls, answer, web_own_answer(bytes, length, answer, sizeof answer));
    if (sent <= 0) return sent;
    replaced = tls;
    return (ssize_t)length;
}
