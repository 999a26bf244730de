#pragma once
#include <stddef.h>

/* The answers of libmicrohttpd itself to requests that it can't read. They are pages of HTML, some begin twice, and no option
   changes them. A program that links this target sends its own instead: see CWebAnswers.c. */

/* Whether these bytes begin an answer of libmicrohttpd itself: an error without a header that all our answers have. */
int web_is_foreign_answer(const void *bytes, size_t length);

/* Our answer in place of one that begins with these bytes. It ends the connection. Returns its length. */
size_t web_own_answer(const void *bytes, size_t length, char *space, size_t size);
