/* The gains of CLinux for processors that have fewer instructions: without AVX2, and `linux_gain_int16` without SSE4.1 too. */
#pragma once
#include <stddef.h>
#include <stdint.h>

size_t gain_int16_sse4(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number);
size_t gain_int16_plain(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number);
size_t gain_int24_plain(const void *source, void *target, size_t frames, int channels, double start, double step);
size_t gain_int32_plain(const int32_t *source, int32_t *target, size_t frames, int channels, double start, double step);
size_t gain_float_plain(const float *source, float *target, size_t frames, int channels, double start, double step);
