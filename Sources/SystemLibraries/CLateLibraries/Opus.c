/* libopusfile, and libopus through it. */
#include "CLateLibraries.h"
#include "LateCall.h"
#include <CLibraryNames.h>
// The header makes its functions visible to other libraries for compilers that this admits.
#define OP_GNUC_PREREQ(major, minor) 0
#include <opus/opusfile.h>

LATE_LIBRARY(LIBRARY_OPUSFILE_FILE)

int late_opus_is_there(void) { return late_library(&library) != NULL; }

CALL(int, op_channel_count, (const OggOpusFile *a, int b), (a, b))
CALL(void, op_free, (OggOpusFile *a), (a))
CALL(int, op_link_count, (const OggOpusFile *a), (a))
CALL(OggOpusFile *, op_open_callbacks, (void *a, const OpusFileCallbacks *b, const unsigned char *c, size_t d, int *e),
     (a, b, c, d, e))
CALL(int, op_pcm_seek, (OggOpusFile *a, ogg_int64_t b), (a, b))
CALL(ogg_int64_t, op_pcm_tell, (const OggOpusFile *a), (a))
CALL(ogg_int64_t, op_pcm_total, (const OggOpusFile *a, int b), (a, b))
CALL(int, op_read_float, (OggOpusFile *a, float *b, int c, int *d), (a, b, c, d))
CALL(void, op_set_decode_callback, (OggOpusFile *a, op_decode_cb_func b, void *c), (a, b, c))
CALL(int, op_set_gain_offset, (OggOpusFile *a, int b, opus_int32 c), (a, b, c))
CALL(const OpusTags *, op_tags, (const OggOpusFile *a, int b), (a, b))
