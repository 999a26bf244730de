#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>

/* Macros that Swift does not import. */
static const int ffmpeg_error_again = AVERROR(EAGAIN);
static const int ffmpeg_error_io = AVERROR(EIO);
static const int ffmpeg_error_end = AVERROR_EOF;
static const int ffmpeg_error_exit = AVERROR_EXIT;
static const int ffmpeg_error_invalid_data = AVERROR_INVALIDDATA;
static const int64_t ffmpeg_no_time = AV_NOPTS_VALUE;
static const int ffmpeg_skip_manual = AV_CODEC_FLAG2_SKIP_MANUAL;
