/* libmpg123. */
#include "CLateLibraries.h"
#include "LateCall.h"
#include <CLibraryNames.h>
#include <mpg123.h>

LATE_LIBRARY(LIBRARY_MPG123_FILE)

int late_mpg123_is_there(void) { return late_library(&library) != NULL; }

CALL(void, mpg123_delete, (mpg123_handle *a), (a))
CALL(int, mpg123_errcode, (mpg123_handle *a), (a))
CALL(int, mpg123_format, (mpg123_handle *a, long b, int c, int d), (a, b, c, d))
CALL(int, mpg123_format_none, (mpg123_handle *a), (a))
CALL(int, mpg123_framebyframe_next, (mpg123_handle *a), (a))
CALL(int, mpg123_getformat, (mpg123_handle *a, long *b, int *c, int *d), (a, b, c, d))
CALL(off_t, mpg123_length, (mpg123_handle *a), (a))
CALL(mpg123_handle *, mpg123_new, (const char *a, int *b), (a, b))
CALL(int, mpg123_open_handle, (mpg123_handle *a, void *b), (a, b))
CALL(int, mpg123_param2, (mpg123_handle *a, int b, long c, double d), (a, b, c, d))
CALL(int, mpg123_read, (mpg123_handle *a, void *b, size_t c, size_t *d), (a, b, c, d))
CALL(int, mpg123_replace_reader_handle, (mpg123_handle *a, mpg123_ssize_t (*b)(void *, void *, size_t),
     off_t (*c)(void *, off_t, int), void (*d)(void *)), (a, b, c, d))
CALL(off_t, mpg123_seek, (mpg123_handle *a, off_t b, int c), (a, b, c))
CALL(int, mpg123_spf, (mpg123_handle *a), (a))
CALL(const char *, mpg123_strerror, (mpg123_handle *a), (a))
