#include "CGainPaths.h"
#define GAIN_WITHOUT_AVX2
#define linux_gain_int16 gain_int16_sse4
#include "../../Sources/SystemLibraries/CLinux/SampleGain.c"
