#include "CGainPaths.h"
#define GAIN_WITHOUT_AVX2
#define linux_gain_int24 gain_int24_plain
#define linux_gain_int32 gain_int32_plain
#define linux_gain_float gain_float_plain
#include "../../Sources/SystemLibraries/CLinux/DeepGain.c"
