/* Gain and dither of 16-bit samples, eight at a time: `SampleGain` and `Dither` of AudioCore define each result, bit for bit.
   Plain vectors of clang, so that every processor has its own instructions for them; Swift cannot ask for those of AVX2 in one
   function. */
#include "CLinux.h"
#include <string.h>

/* A product and a sum are rounded one after the other, as in Swift: processors that have one instruction for both differ. */
#pragma STDC FP_CONTRACT OFF

/* Vectors are passed to functions that are inlined alone. */
#pragma clang diagnostic ignored "-Wpsabi"

typedef uint64_t u64x8 __attribute__((ext_vector_type(8)));
typedef uint32_t u32x8 __attribute__((ext_vector_type(8)));
typedef uint32_t u32x16 __attribute__((ext_vector_type(16)));
typedef int32_t i32x8 __attribute__((ext_vector_type(8)));
typedef int32_t i32x4 __attribute__((ext_vector_type(4)));
typedef int16_t i16x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef double f64x4 __attribute__((ext_vector_type(4)));

#define GOLDEN 0x9E3779B97F4A7C15u
#define MIXER 0xD6E8FEB86659FD93u
#define INLINE static inline __attribute__((always_inline))

/* The noise of eight samples, whose numbers times GOLDEN are `mixed`: Dither.triangular. */
INLINE f32x8 noise(u64x8 mixed) {
    mixed = (mixed ^ (mixed >> 32)) * MIXER;
    mixed = (mixed ^ (mixed >> 32)) * MIXER;
    u32x16 halves;
    memcpy(&halves, &mixed, sizeof mixed);
    u32x8 high = __builtin_shufflevector(halves, halves, 1, 3, 5, 7, 9, 11, 13, 15);
    u32x8 low = __builtin_shufflevector(halves, halves, 0, 2, 4, 6, 8, 10, 12, 14) ^ high;
    f32x8 first = __builtin_convertvector((i32x8)(low & 0xFFFFFF), f32x8);
    f32x8 second = __builtin_convertvector((i32x8)(high >> 8), f32x8);
    return (first - second) * 0x1p-24f;
}

/* Rounds halves away from zero, and cuts off: for every float, adding the number before 0.5 and cutting does that. */
INLINE i16x8 rounded(f32x8 value) {
    value = value < 32767.0f ? value : (f32x8)32767.0f;
    value = value > -32768.0f ? value : (f32x8)-32768.0f;
    u32x8 half = ((u32x8)value & 0x80000000u) | 0x3EFFFFFFu;
    return __builtin_convertvector(__builtin_convertvector(value + (f32x8)half, i32x8), i16x8);
}

/* Factors of eight samples from the frame `index` on. */
INLINE f32x8 factors(double start, double step, f64x4 index, int channels) {
    f32x4 first = __builtin_convertvector(start + step * index, f32x4);
    if (channels == 2) return __builtin_shufflevector(first, first, 0, 0, 1, 1, 2, 2, 3, 3);
    f32x4 second = __builtin_convertvector(start + step * (index + 4.0), f32x4);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
}

INLINE size_t run(
    const int16_t *source, int16_t *target, size_t samples, int channels, double start, double step, uint64_t number) {
    u64x8 mixed = (number + (u64x8){0, 1, 2, 3, 4, 5, 6, 7}) * GOLDEN;
    f64x4 index = {0, 1, 2, 3};
    f32x8 factor = (float)start;
    int moves = step != 0;
    size_t done = 0;
    for (; done + 8 <= samples; done += 8) {
        i16x8 in, out;
        memcpy(&in, source + done, sizeof in);
        if (moves) factor = factors(start, step, index, channels);
        out = rounded(__builtin_convertvector(in, f32x8) * factor + noise(mixed));
        /* A frame of silence, or without volume, is silent. */
        if (channels == 2) {
            out = (i16x8)((i32x4)out & ((i32x4)in != 0));
        } else {
            out &= in != 0;
        }
        if (moves) out &= __builtin_convertvector(factor != 0, i16x8);
        memcpy(target + done, &out, sizeof out);
        mixed += 8 * GOLDEN;
        index += 8.0 / channels;
    }
    return done;
}

INLINE size_t choose(
    const int16_t *source, int16_t *target, size_t samples, int channels, double start, double step, uint64_t number) {
    if (channels == 2) return run(source, target, samples, 2, start, step, number);
    return run(source, target, samples, 1, start, step, number);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static size_t wide(
    const int16_t *source, int16_t *target, size_t samples, int channels, double start, double step, uint64_t number) {
    return choose(source, target, samples, channels, start, step, number);
}
#endif

size_t linux_gain_int16(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number) {
    if ((channels != 1 && channels != 2) || (step == 0 && (float)start == 0)) return 0;
    size_t samples = frames * (size_t)channels;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return wide(source, target, samples, channels, start, step, number) / (size_t)channels;
#endif
    return choose(source, target, samples, channels, start, step, number) / (size_t)channels;
}
