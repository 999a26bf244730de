#pragma once
#include <stddef.h>

/* The answers of libmicrohttpd itself to requests that it can't read. They are pages of HTML, some begin twice, and no option
   changes them. A program that links this target sends its own instead: see CWebAnswers.c. */

/* Whether these bytes begin an answer of libmicrohttpd itself: an error without a header that all our answers have. */
int web_is_foreign_answer(const void *bytes, size_t length);

/* Our answer in place of one that begins with these bytes. It ends the connection. Returns its length. */
size_t web_own_answer(const void *bytes, size_t length, char *space, size_t size);

/* The bytes of a new connection are requests. */
void web_watch_heads(int socket, int uses_tls);

/* The next bytes are the head of a request, if it was not known where the one before ends. */
void web_await_head(int socket);

/* Nothing that comes on this descriptor is a head. */
void web_forget_heads(int socket);

/* Puts the byte 1 in place of each NUL in a head, in bytes that have just come on a connection. `is_tls`: they
   came by TLS; bytes that hold TLS itself stay as they are. */
void web_show_nuls(int socket, int is_tls, void *bytes, size_t length);
