/* The gain of CLinux for processors that have fewer instructions: `linux_gain_int16` without AVX2, and without SSE4.1 too. */
#pragma once
#include <stddef.h>
#include <stdint.h>

size_t gain_int16_sse4(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number);
size_t gain_int16_plain(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number);
