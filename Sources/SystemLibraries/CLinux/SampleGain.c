/* Gain and dither of 16-bit samples, eight at a time: `SampleGain` and `Dither` of AudioCore define each result, bit for bit.
   The vectors are clang's, which compile to the instructions of each processor. Swift cannot use AVX2 in a single function. */
#include "CLinux.h"
#include <string.h>
#ifdef __x86_64__
#include <smmintrin.h>
/* Tests can leave out the widest instructions. */
#ifndef GAIN_WITHOUT_AVX2
#define GAIN_AVX2
#endif
#ifndef GAIN_WITHOUT_SSE4
#define GAIN_SSE4
#endif
#endif

/* A product and a sum are rounded one after the other, as in Swift. A fused instruction would give other results. */
#pragma STDC FP_CONTRACT OFF

/* Only inlined functions take vectors. */
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

/* The noise of eight samples (Dither.triangular). `mixed`: their numbers times GOLDEN. */
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

/* Rounds to an integer, with halves away from zero. Adding the float before 0.5 and truncating does that for every float. */
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
        /* A silent frame, or a frame at volume 0, stays silent. */
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

#ifdef GAIN_AVX2
__attribute__((target("avx2"))) static size_t wide(
    const int16_t *source, int16_t *target, size_t samples, int channels, double start, double step, uint64_t number) {
    return choose(source, target, samples, channels, start, step, number);
}
#endif

#ifdef GAIN_SSE4
/* The same by the instructions of SSE4.1. Two vectors hold four numbers, one their lower halves and one their upper halves.
   So their product takes ten instructions, and needs no shuffle afterwards. */
#define SSE4 __attribute__((target("sse4.1")))
#define INLINE_SSE4 static inline __attribute__((always_inline, target("sse4.1")))

/* (upper, lower) = (upper, lower ^ upper) * MIXER */
INLINE_SSE4 void mix(__m128i *lower, __m128i *upper) {
    const __m128i low = _mm_set1_epi32((int32_t)(uint32_t)MIXER), high = _mm_set1_epi32((int32_t)(MIXER >> 32));
    __m128i number = _mm_xor_si128(*lower, *upper);
    __m128i even = _mm_srli_epi64(_mm_mul_epu32(number, low), 32);
    __m128i odd = _mm_mul_epu32(_mm_srli_epi64(number, 32), low);
    __m128i crossed = _mm_add_epi32(_mm_mullo_epi32(number, high), _mm_mullo_epi32(*upper, low));
    *upper = _mm_add_epi32(_mm_blend_epi16(even, odd, 0xCC), crossed);
    *lower = _mm_mullo_epi32(number, low);
}

INLINE_SSE4 __m128 noise_sse4(__m128i first, __m128i second) {
    __m128 ones = _mm_castsi128_ps(first), twos = _mm_castsi128_ps(second);
    __m128i lower = _mm_castps_si128(_mm_shuffle_ps(ones, twos, 0x88));
    __m128i upper = _mm_castps_si128(_mm_shuffle_ps(ones, twos, 0xDD));
    mix(&lower, &upper);
    mix(&lower, &upper);
    lower = _mm_and_si128(_mm_xor_si128(lower, upper), _mm_set1_epi32(0xFFFFFF));
    __m128 difference = _mm_sub_ps(_mm_cvtepi32_ps(lower), _mm_cvtepi32_ps(_mm_srli_epi32(upper, 8)));
    return _mm_mul_ps(difference, _mm_set1_ps(0x1p-24f));
}

/* `rounded` for a magnitude below 2^31; the packing saturates. */
INLINE_SSE4 __m128i rounded_sse4(__m128 value) {
    __m128 sign = _mm_and_ps(value, _mm_set1_ps(-0.0f)), half = _mm_castsi128_ps(_mm_set1_epi32(0x3EFFFFFF));
    return _mm_cvttps_epi32(_mm_add_ps(value, _mm_or_ps(sign, half)));
}

INLINE_SSE4 size_t run_sse4(
    const int16_t *source, int16_t *target, size_t samples, int channels, double start, double step, uint64_t number) {
    __m128i mixed[4];
    for (int pair = 0; pair < 4; pair++) {
        uint64_t even = (number + 2 * (uint64_t)pair) * GOLDEN;
        mixed[pair] = _mm_set_epi64x((int64_t)(even + GOLDEN), (int64_t)even);
    }
    f64x4 index = {0, 1, 2, 3};
    f32x8 factor = (float)start;
    int moves = step != 0;
    size_t done = 0;
    for (; done + 8 <= samples; done += 8) {
        __m128i in = _mm_loadu_si128((const __m128i *)(source + done));
        if (moves) factor = factors(start, step, index, channels);
        f32x4 lower = __builtin_shufflevector(factor, factor, 0, 1, 2, 3);
        f32x4 upper = __builtin_shufflevector(factor, factor, 4, 5, 6, 7);
        __m128 first = _mm_mul_ps(_mm_cvtepi32_ps(_mm_cvtepi16_epi32(in)), (__m128)lower);
        __m128 second = _mm_mul_ps(_mm_cvtepi32_ps(_mm_cvtepi16_epi32(_mm_srli_si128(in, 8))), (__m128)upper);
        __m128i out = _mm_packs_epi32(rounded_sse4(_mm_add_ps(first, noise_sse4(mixed[0], mixed[1]))),
                                      rounded_sse4(_mm_add_ps(second, noise_sse4(mixed[2], mixed[3]))));
        __m128i silent = channels == 2 ? _mm_cmpeq_epi32(in, _mm_setzero_si128()) : _mm_cmpeq_epi16(in, _mm_setzero_si128());
        out = _mm_andnot_si128(silent, out);
        if (moves) {
            __m128 none = _mm_setzero_ps();
            out = _mm_and_si128(out, _mm_packs_epi32(_mm_castps_si128(_mm_cmpneq_ps((__m128)lower, none)),
                                                     _mm_castps_si128(_mm_cmpneq_ps((__m128)upper, none))));
        }
        _mm_storeu_si128((__m128i *)(target + done), out);
        for (int pair = 0; pair < 4; pair++) mixed[pair] = _mm_add_epi64(mixed[pair], _mm_set1_epi64x((int64_t)(8 * GOLDEN)));
        index += 8.0 / channels;
    }
    return done;
}

SSE4 static size_t middle(
    const int16_t *source, int16_t *target, size_t samples, int channels, double start, double step, uint64_t number) {
    if (channels == 2) {
        if (step == 0) return run_sse4(source, target, samples, 2, start, 0, number);
        return run_sse4(source, target, samples, 2, start, step, number);
    }
    return run_sse4(source, target, samples, 1, start, step, number);
}

/* True if every product fits 32 bits. Only gains of a hostile file do not. */
static int is_moderate(double factor) { return factor > -32768 && factor < 32768; }
#endif

size_t linux_gain_int16(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number) {
    if ((channels != 1 && channels != 2) || (step == 0 && (float)start == 0)) return 0;
    size_t samples = frames * (size_t)channels;
#ifdef GAIN_AVX2
    if (__builtin_cpu_supports("avx2"))
        return wide(source, target, samples, channels, start, step, number) / (size_t)channels;
#endif
#ifdef GAIN_SSE4
    if (__builtin_cpu_supports("sse4.1") && is_moderate(start) && is_moderate(start + step * (double)frames))
        return middle(source, target, samples, channels, start, step, number) / (size_t)channels;
#endif
    return choose(source, target, samples, channels, start, step, number) / (size_t)channels;
}
