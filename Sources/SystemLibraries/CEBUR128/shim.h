#include <ebur128.h>

/* Momentary loudness and true peak. */
static const int loudness_meter_modes = EBUR128_MODE_M | EBUR128_MODE_TRUE_PEAK;
/* Weights of channels: as it is, 1.5 dB more, none. */
static const int loudness_plain = EBUR128_CENTER;
static const int loudness_behind = EBUR128_LEFT_SURROUND;
static const int loudness_unused = EBUR128_UNUSED;
