#pragma once
#include <stddef.h>

/* libmicrohttpd itself answers requests that it cannot read. Its answers are HTML pages, some begin twice, and no option
   changes them. A program that links this target sends its own answers instead: see CWebAnswers.c. */

/* 1 if these bytes begin an answer of libmicrohttpd itself: an error on a connection that owes one. */
int web_is_foreign_answer(int socket, const void *bytes, size_t length);

/* Writes the bridge's answer in place of an answer that begins with these bytes. It ends the connection. Returns its length. */
size_t web_own_answer(const void *bytes, size_t length, char *space, size_t size);

/* Begins to watch a new connection, whose bytes are requests. */
void web_watch_heads(int socket, int uses_tls);

/* Marks the following bytes for this connection as an answer of the bridge, until it awaits a head. */
void web_begin_answer(int socket);

/* 1 if this connection is watched, and has no answer of the bridge. */
int web_owes_answer(int socket);

/* Marks the next bytes as the head of a request, if the end of the previous request was unknown. */
void web_await_head(int socket);

/* Stops watching this descriptor: its further bytes are not heads. */
void web_forget_heads(int socket);

/* Replaces each NUL of a head by the byte 1 in bytes that a connection has just received. `is_tls`: TLS has decrypted the
   bytes; encrypted bytes stay unchanged. */
void web_show_nuls(int socket, int is_tls, void *bytes, size_t length);
