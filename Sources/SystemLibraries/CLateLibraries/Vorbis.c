/* libvorbisfile, and libvorbis through it. */
#include "CLateLibraries.h"
#include "LateCall.h"
#include <CLibraryNames.h>
#define OV_EXCLUDE_STATIC_CALLBACKS
#include <vorbis/vorbisfile.h>

LATE_LIBRARY(LIBRARY_VORBISFILE_FILE)

int late_vorbis_is_there(void) { return late_library(&library) != NULL; }

CALL(int, ov_clear, (OggVorbis_File *a), (a))
CALL(vorbis_comment *, ov_comment, (OggVorbis_File *a, int b), (a, b))
CALL(vorbis_info *, ov_info, (OggVorbis_File *a, int b), (a, b))
CALL(int, ov_open_callbacks, (void *a, OggVorbis_File *b, const char *c, long d, ov_callbacks e), (a, b, c, d, e))
CALL(int, ov_pcm_seek, (OggVorbis_File *a, ogg_int64_t b), (a, b))
CALL(ogg_int64_t, ov_pcm_tell, (OggVorbis_File *a), (a))
CALL(ogg_int64_t, ov_pcm_total, (OggVorbis_File *a, int b), (a, b))
CALL(long, ov_read_float, (OggVorbis_File *a, float ***b, int c, int *d), (a, b, c, d))
CALL(long, ov_streams, (OggVorbis_File *a), (a))
CALL(void, vorbis_comment_clear, (vorbis_comment *a), (a))
