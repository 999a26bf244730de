/* libsndfile: it brings the encoders of Ogg Vorbis and MP3 with it. */
#include "CLateLibraries.h"
#include "LateCall.h"
#include <CLibraryNames.h>
#include <sndfile.h>

LATE_LIBRARY(LIBRARY_SNDFILE_FILE)

int late_sndfile_is_there(void) { return late_library(&library) != NULL; }

CALL(SNDFILE *, sf_open_virtual, (SF_VIRTUAL_IO *a, int b, SF_INFO *c, void *d), (a, b, c, d))
CALL(int, sf_close, (SNDFILE *a), (a))
CALL(int, sf_command, (SNDFILE *a, int b, void *c, int d), (a, b, c, d))
CALL(const char *, sf_get_string, (SNDFILE *a, int b), (a, b))
CALL(sf_count_t, sf_readf_float, (SNDFILE *a, float *b, sf_count_t c), (a, b, c))
CALL(sf_count_t, sf_readf_int, (SNDFILE *a, int *b, sf_count_t c), (a, b, c))
CALL(sf_count_t, sf_readf_short, (SNDFILE *a, short *b, sf_count_t c), (a, b, c))
CALL(sf_count_t, sf_seek, (SNDFILE *a, sf_count_t b, int c), (a, b, c))
