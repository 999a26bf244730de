#include "CGainPaths.h"
#define GAIN_WITHOUT_AVX2
#define GAIN_WITHOUT_SSE4
#define linux_gain_int16 gain_int16_plain
#include "../../Sources/SystemLibraries/CLinux/SampleGain.c"
