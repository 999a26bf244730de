/* libFLAC, and libogg through it. */
#include "CLateLibraries.h"
#include "LateCall.h"
#include <CLibraryNames.h>
#include <FLAC/stream_decoder.h>

LATE_LIBRARY(LIBRARY_FLAC_FILE)

int late_flac_is_there(void) { return late_library(&library) != NULL; }

CALL(void, FLAC__stream_decoder_delete, (FLAC__StreamDecoder *a), (a))
CALL(FLAC__bool, FLAC__stream_decoder_flush, (FLAC__StreamDecoder *a), (a))
CALL(FLAC__StreamDecoderState, FLAC__stream_decoder_get_state, (const FLAC__StreamDecoder *a), (a))
CALL(FLAC__StreamDecoderInitStatus, FLAC__stream_decoder_init_ogg_stream, (FLAC__StreamDecoder *a,
     FLAC__StreamDecoderReadCallback b, FLAC__StreamDecoderSeekCallback c, FLAC__StreamDecoderTellCallback d,
     FLAC__StreamDecoderLengthCallback e, FLAC__StreamDecoderEofCallback f, FLAC__StreamDecoderWriteCallback g,
     FLAC__StreamDecoderMetadataCallback h, FLAC__StreamDecoderErrorCallback i, void *j), (a, b, c, d, e, f, g, h, i, j))
CALL(FLAC__StreamDecoderInitStatus, FLAC__stream_decoder_init_stream, (FLAC__StreamDecoder *a,
     FLAC__StreamDecoderReadCallback b, FLAC__StreamDecoderSeekCallback c, FLAC__StreamDecoderTellCallback d,
     FLAC__StreamDecoderLengthCallback e, FLAC__StreamDecoderEofCallback f, FLAC__StreamDecoderWriteCallback g,
     FLAC__StreamDecoderMetadataCallback h, FLAC__StreamDecoderErrorCallback i, void *j), (a, b, c, d, e, f, g, h, i, j))
CALL(FLAC__StreamDecoder *, FLAC__stream_decoder_new, (void), ())
CALL(FLAC__bool, FLAC__stream_decoder_process_single, (FLAC__StreamDecoder *a), (a))
CALL(FLAC__bool, FLAC__stream_decoder_process_until_end_of_metadata, (FLAC__StreamDecoder *a), (a))
CALL(FLAC__bool, FLAC__stream_decoder_seek_absolute, (FLAC__StreamDecoder *a, FLAC__uint64 b), (a, b))
CALL(FLAC__bool, FLAC__stream_decoder_set_md5_checking, (FLAC__StreamDecoder *a, FLAC__bool b), (a, b))
CALL(FLAC__bool, FLAC__stream_decoder_set_metadata_ignore_all, (FLAC__StreamDecoder *a), (a))
