/* libmicrohttpd ends texts at a NUL. It would ignore the rest of a header, and reads a line that begins with a NUL as the end
   of the head. The dynamic linker uses recv(2) and gnutls_record_recv() of the program if it has them. These functions
   replace each NUL in a head by a byte that the bridge refuses. */
#define _GNU_SOURCE
#include "CWebAnswers.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAXIMUM = 1 << 14, LINE = 48 };

/* The reading state of a connection. */
enum { NOT_READ, IN_HEAD, IN_BODY, UNKNOWN };
struct reader {
    uint64_t left; /* remaining bytes of the body */
    unsigned char state, length, has_line, is_unknown, uses_tls, has_answer;
    char line[LINE]; /* the beginning of the present line, in lower case */
};

/* States by the descriptor of the connection. Each belongs to the thread that serves the connection. */
static struct reader readers[MAXIMUM];

void web_watch_heads(int socket, int uses_tls) {
    if (socket < 0 || socket >= MAXIMUM) return;
    readers[socket] = (struct reader){.state = IN_HEAD, .uses_tls = uses_tls != 0};
}

void web_begin_answer(int socket) {
    if (socket >= 0 && socket < MAXIMUM) readers[socket].has_answer = 1;
}

int web_owes_answer(int socket) {
    return socket >= 0 && socket < MAXIMUM && readers[socket].state != NOT_READ && !readers[socket].has_answer;
}

void web_await_head(int socket) {
    if (socket >= 0 && socket < MAXIMUM) readers[socket].has_answer = 0;
    if (socket < 0 || socket >= MAXIMUM || readers[socket].state != UNKNOWN) return;
    web_watch_heads(socket, readers[socket].uses_tls);
}

void web_forget_heads(int socket) {
    if (socket >= 0 && socket < MAXIMUM) readers[socket].state = NOT_READ;
}

/* The value of a header if the present line begins with its name (in lower case, with the colon); NULL: another header. */
static const char *value(const struct reader *reader, const char *name) {
    size_t count = strlen(name);
    if (reader->length < count || memcmp(reader->line, name, count) != 0) return NULL;
    const char *start = reader->line + count;
    while (*start == ' ' || *start == '\t') start++;
    return start;
}

static void end_line(struct reader *reader) {
    if (reader->length > 0 && reader->line[reader->length - 1] == '\r') reader->length--;
    reader->line[reader->length] = 0;
    const char *length = value(reader, "content-length:");
    if (reader->length == 0 && reader->has_line) {
        reader->state = reader->is_unknown ? UNKNOWN : reader->left > 0 ? IN_BODY : IN_HEAD;
        reader->has_line = 0;
    } else if (length != NULL) {
        size_t digits = strspn(length, "0123456789");
        if (digits == 0 || digits > 18) reader->is_unknown = 1;
        for (size_t i = 0; i < digits && digits <= 18; i++) reader->left = reader->left * 10 + (uint64_t)(length[i] - '0');
    } else if (value(reader, "transfer-encoding:") != NULL || value(reader, "upgrade:") != NULL) {
        reader->is_unknown = 1;
    }
    if (reader->length > 0) reader->has_line = 1;
    reader->length = 0;
}

void web_show_nuls(int socket, int is_tls, void *bytes, size_t length) {
    if (socket < 0 || socket >= MAXIMUM || readers[socket].uses_tls != is_tls) return;
    struct reader *reader = &readers[socket];
    unsigned char *start = bytes;
    for (size_t i = 0; i < length && (reader->state == IN_HEAD || reader->state == IN_BODY); i++) {
        if (reader->state == IN_BODY) {
            size_t count = reader->left < length - i ? (size_t)reader->left : length - i;
            reader->left -= count;
            if (reader->left == 0) reader->state = IN_HEAD;
            i += count - 1;
            continue;
        }
        if (start[i] == 0) start[i] = 1;
        if (start[i] == '\n') end_line(reader);
        else if (reader->length < LINE - 1) reader->line[reader->length++] = (char)tolower(start[i]);
    }
}

__attribute__((visibility("default"))) ssize_t recv(int socket, void *space, size_t size, int flags) {
    ssize_t got = syscall(SYS_recvfrom, socket, space, size, flags, NULL, NULL);
    if (got > 0) web_show_nuls(socket, 0, space, (size_t)got);
    return got;
}

typedef struct gnutls_session *session;

__attribute__((visibility("default"))) ssize_t gnutls_record_recv(session tls, void *space, size_t size) {
    static ssize_t (*next)(session, void *, size_t);
    static int (*descriptor)(session);
    if (next == NULL) next = (ssize_t(*)(session, void *, size_t))dlsym(RTLD_NEXT, "gnutls_record_recv");
    if (descriptor == NULL) descriptor = (int (*)(session))dlsym(RTLD_NEXT, "gnutls_transport_get_int");
    if (next == NULL || descriptor == NULL) return -1;
    ssize_t got = next(tls, space, size);
    if (got > 0) web_show_nuls(descriptor(tls), 1, space, (size_t)got);
    return got;
}
