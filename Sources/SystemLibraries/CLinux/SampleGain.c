/* Gain and dither of 16-bit samples, eight at a time: `SampleGain` and `Dither` of AudioCore define each result, bit for bit. */
#include "CLinux.h"
#include "GainVectors.h"
#include <string.h>
/* Tests can leave out the widest instructions. */
#if defined(__x86_64__) && !defined(GAIN_WITHOUT_SSE4)
#include <smmintrin.h>
#define GAIN_SSE4
#endif

#define GOLDEN 0x9E3779B97F4A7C15u
#define MIXER 0xD6E8FEB86659FD93u

/* Numbers of 64 bits for eight samples. The order makes their halves lie in the order of the samples after `halves`. */
typedef struct {
    u64x4 first, second;
} Mixed;

INLINE Mixed mixed_from(uint64_t number) {
    return (Mixed){(number + (u64x4){0, 1, 4, 5}) * GOLDEN, (number + (u64x4){2, 3, 6, 7}) * GOLDEN};
}

/* Eight numbers of 64 bits, by their halves. Products of halves need no shuffles. */
typedef struct {
    u32x8 lower, upper;
} Halves;

INLINE Halves halves(Mixed mixed) {
    u32x8 first = (u32x8)mixed.first, second = (u32x8)mixed.second;
    return (Halves){__builtin_shufflevector(first, second, 0, 2, 8, 10, 4, 6, 12, 14),
                    __builtin_shufflevector(first, second, 1, 3, 9, 11, 5, 7, 13, 15)};
}

/* The upper halves of the products with a number. */
INLINE u32x8 upper_products(u32x8 number, uint32_t factor) {
#ifdef GAIN_NEON
    uint32x4_t low = (uint32x4_t)number.lo, high = (uint32x4_t)number.hi;
    uint32x4_t first = vuzp2q_u32(
        (uint32x4_t)vmull_n_u32(vget_low_u32(low), factor), (uint32x4_t)vmull_high_n_u32(low, factor));
    uint32x4_t second = vuzp2q_u32(
        (uint32x4_t)vmull_n_u32(vget_low_u32(high), factor), (uint32x4_t)vmull_high_n_u32(high, factor));
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    u32x8 even = (u32x8)(((u64x4)number & 0xFFFFFFFFu) * factor), odd = (u32x8)(((u64x4)number >> 32) * factor);
    return __builtin_shufflevector(even, odd, 1, 9, 3, 11, 5, 13, 7, 15);
#endif
}

/* (number ^ number >> 32) * MIXER */
INLINE Halves mix(Halves number) {
    const uint32_t low = (uint32_t)MIXER, high = (uint32_t)(MIXER >> 32);
    u32x8 lower = number.lower ^ number.upper;
    return (Halves){lower * low, upper_products(lower, low) + lower * high + number.upper * low};
}

/* The noise of eight samples (Dither.triangular). The difference of two numbers of 24 bits is exact. */
INLINE f32x8 noise(Mixed mixed) {
    Halves number = mix(mix(halves(mixed)));
    u32x8 difference = ((number.lower ^ number.upper) & 0xFFFFFF) - (number.upper >> 8);
    return __builtin_convertvector((i32x8)difference, f32x8) * 0x1p-24f;
}

/* Rounds to an integer, with halves away from zero. Adding the float before 0.5 and truncating does that for every float. */
INLINE i16x8 rounded(f32x8 value, int clamps) {
    if (clamps) {
        value = value < 32767.0f ? value : (f32x8)32767.0f;
        value = value > -32768.0f ? value : (f32x8)-32768.0f;
    }
#ifdef GAIN_NEON
    int32x4_t low = vcvtaq_s32_f32((float32x4_t)value.lo), high = vcvtaq_s32_f32((float32x4_t)value.hi);
    return (i16x8)vqmovn_high_s32(vqmovn_s32(low), high);
#else
    u32x8 half = ((u32x8)value & 0x80000000u) | 0x3EFFFFFFu;
    i32x8 whole = __builtin_convertvector(value + (f32x8)half, i32x8);
    whole = __builtin_elementwise_max(__builtin_elementwise_min(whole, (i32x8)32767), (i32x8)-32768);
    return __builtin_convertvector(whole, i16x8);
#endif
}

/* Factors of eight samples from the frame `index` on. */
INLINE f32x8 moved(double start, double step, f64x4 index, size_t channels) {
    f32x4 first = __builtin_convertvector(start + step * index, f32x4);
    if (channels == 2) return __builtin_shufflevector(first, first, 0, 0, 1, 1, 2, 2, 3, 3);
    f32x4 second = __builtin_convertvector(start + step * (index + 4.0), f32x4);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Frames to process. The factor of frame i is `start` + `step` * i; `number` is the number of the first sample. */
typedef struct {
    const int16_t *source;
    int16_t *target;
    size_t frames;
    double start, step;
    uint64_t number;
} Work;

/* The factors of some samples: all the same, moving, or moving and perhaps 0. */
enum { EVEN, MOVING, CROSSING };

/* True if no factor after the first eight samples is 0: they rise or fall evenly, so two of the same sign suffice. */
INLINE int keeps_sign(const Work *work, size_t channels) {
    float first = (float)(work->start + work->step * (double)(8 / channels));
    float last = (float)(work->start + work->step * (double)(work->frames - 1));
    return (first > 0 && last > 0) || (first < 0 && last < 0);
}

/* True if every product fits 32 bits. Only gains of a hostile file do not. */
INLINE int is_moderate(const Work *work) {
    double end = work->start + work->step * (double)work->frames;
    return work->start > -32768 && work->start < 32768 && end > -32768 && end < 32768;
}

/* Processes whole vectors from `done` to before `end`. `clamps`: a product can be beyond 32 bits. */
INLINE void run(const Work *work, size_t done, size_t end, size_t channels, int factors, int clamps) {
    const int16_t *source = work->source;
    int16_t *target = work->target;
    const double start = work->start, step = work->step;
    Mixed mixed = mixed_from(work->number + done);
    f64x4 index = (double)(done / channels) + (f64x4){0, 1, 2, 3};
    f32x8 factor = (float)start;
    for (; done < end; done += 8) {
        i16x8 in, out;
        memcpy(&in, source + done, sizeof in);
        if (factors != EVEN) factor = moved(start, step, index, channels);
        out = rounded(__builtin_convertvector(in, f32x8) * factor + noise(mixed), clamps);
        /* A silent frame, or a frame at volume 0, stays silent. */
        if (channels == 2) {
            out = (i16x8)((i32x4)out & ((i32x4)in != 0));
        } else {
            out &= in != 0;
        }
        if (factors == CROSSING) out &= __builtin_convertvector(factor != 0, i16x8);
        memcpy(target + done, &out, sizeof out);
        mixed.first += 8 * GOLDEN;
        mixed.second += 8 * GOLDEN;
        index += 8.0 / (double)channels;
    }
}

INLINE void run_channels(const Work *work, size_t end, size_t channels) {
    if (work->step == 0) {
        run(work, 0, end, channels, EVEN, 0);
    } else {
        size_t crossing = keeps_sign(work, channels) ? 8 : end;
        run(work, 0, crossing, channels, CROSSING, 0);
        run(work, crossing, end, channels, MOVING, 0);
    }
}

INLINE void run_all(const Work *work, size_t end, size_t channels) {
    if (channels == 2) {
        run_channels(work, end, 2);
    } else {
        run_channels(work, end, 1);
    }
}

#ifdef GAIN_AVX2
__attribute__((target("avx2"))) static void wide(const Work *work, size_t end, size_t channels) {
    run_all(work, end, channels);
}
#endif

#ifdef GAIN_SSE4
/* The same by the instructions of SSE4.1: four samples after four, because its registers hold no more. */
#define SSE4 __attribute__((target("sse4.1")))
#define INLINE_SSE4 static inline __attribute__((always_inline, target("sse4.1")))

/* `mix` of four numbers. */
INLINE_SSE4 void mix_sse4(__m128i *lower, __m128i *upper) {
    const __m128i low = _mm_set1_epi32((int32_t)(uint32_t)MIXER), high = _mm_set1_epi32((int32_t)(MIXER >> 32));
    __m128i number = _mm_xor_si128(*lower, *upper);
    __m128i even = _mm_shuffle_epi32(_mm_mul_epu32(number, low), 0xF5);
    __m128i odd = _mm_mul_epu32(_mm_shuffle_epi32(number, 0xF5), low);
    __m128i crossed = _mm_add_epi32(_mm_mullo_epi32(number, high), _mm_mullo_epi32(*upper, low));
    *upper = _mm_add_epi32(_mm_blend_epi16(even, odd, 0xCC), crossed);
    *lower = _mm_mullo_epi32(number, low);
}

/* `noise` of four numbers, two in each vector. */
INLINE_SSE4 __m128 noise_sse4(const __m128i mixed[2]) {
    __m128 first = _mm_castsi128_ps(mixed[0]), second = _mm_castsi128_ps(mixed[1]);
    __m128i lower = _mm_castps_si128(_mm_shuffle_ps(first, second, 0x88));
    __m128i upper = _mm_castps_si128(_mm_shuffle_ps(first, second, 0xDD));
    mix_sse4(&lower, &upper);
    mix_sse4(&lower, &upper);
    lower = _mm_and_si128(_mm_xor_si128(lower, upper), _mm_set1_epi32(0xFFFFFF));
    return _mm_mul_ps(_mm_cvtepi32_ps(_mm_sub_epi32(lower, _mm_srli_epi32(upper, 8))), _mm_set1_ps(0x1p-24f));
}

/* Four samples from `source` on times their factors, with noise, rounded as in `rounded`; packing clips them. */
INLINE_SSE4 __m128i scaled_sse4(const int16_t *source, __m128 factor, const __m128i mixed[2]) {
    __m128 sample = _mm_cvtepi32_ps(_mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)source)));
    __m128 value = _mm_add_ps(_mm_mul_ps(sample, factor), noise_sse4(mixed));
    __m128 sign = _mm_and_ps(value, _mm_set1_ps(-0.0f)), half = _mm_castsi128_ps(_mm_set1_epi32(0x3EFFFFFF));
    return _mm_cvttps_epi32(_mm_add_ps(value, _mm_or_ps(sign, half)));
}

/* Factors of two frames in the lower half. `index`: the frames; moves on to the next. */
INLINE_SSE4 __m128 moved_sse4(const Work *work, __m128d *index) {
    __m128d factor = _mm_add_pd(_mm_mul_pd(_mm_set1_pd(work->step), *index), _mm_set1_pd(work->start));
    *index = _mm_add_pd(*index, _mm_set1_pd(2));
    return _mm_cvtpd_ps(factor);
}

/* Factors of the next four samples. */
INLINE_SSE4 __m128 factors_sse4(const Work *work, __m128d *index, size_t channels) {
    __m128 first = moved_sse4(work, index);
    if (channels == 2) return _mm_unpacklo_ps(first, first);
    return _mm_movelh_ps(first, moved_sse4(work, index));
}

INLINE_SSE4 void run_sse4(const Work *given, size_t done, size_t end, size_t channels, int factors) {
    const Work work = *given;
    __m128i mixed[4];
    for (int pair = 0; pair < 4; pair++) {
        uint64_t even = (work.number + done + 2 * (uint64_t)pair) * GOLDEN;
        mixed[pair] = _mm_set_epi64x((int64_t)(even + GOLDEN), (int64_t)even);
    }
    double frame = (double)(done / channels);
    __m128d index = _mm_set_pd(frame + 1, frame);
    __m128 first = _mm_set1_ps((float)work.start), second = first;
    const __m128i zero = _mm_setzero_si128();
    for (; done < end; done += 8) {
        if (factors != EVEN) {
            first = factors_sse4(&work, &index, channels);
            second = factors_sse4(&work, &index, channels);
        }
        __m128i out = scaled_sse4(work.source + done, first, mixed);
        out = _mm_packs_epi32(out, scaled_sse4(work.source + done + 4, second, mixed + 2));
        __m128i in = _mm_loadu_si128((const __m128i *)(work.source + done));
        out = _mm_andnot_si128(channels == 2 ? _mm_cmpeq_epi32(in, zero) : _mm_cmpeq_epi16(in, zero), out);
        if (factors == CROSSING) {
            __m128i ones = _mm_castps_si128(_mm_cmpneq_ps(first, _mm_castsi128_ps(zero)));
            __m128i twos = _mm_castps_si128(_mm_cmpneq_ps(second, _mm_castsi128_ps(zero)));
            out = _mm_and_si128(out, _mm_packs_epi32(ones, twos));
        }
        _mm_storeu_si128((__m128i *)(work.target + done), out);
        for (int pair = 0; pair < 4; pair++) mixed[pair] = _mm_add_epi64(mixed[pair], _mm_set1_epi64x((int64_t)(8 * GOLDEN)));
    }
}

INLINE_SSE4 void run_channels_sse4(const Work *work, size_t end, size_t channels) {
    if (work->step == 0) {
        run_sse4(work, 0, end, channels, EVEN);
    } else {
        size_t crossing = keeps_sign(work, channels) ? 8 : end;
        run_sse4(work, 0, crossing, channels, CROSSING);
        run_sse4(work, crossing, end, channels, MOVING);
    }
}

SSE4 static void middle(const Work *work, size_t end, size_t channels) {
    if (channels == 2) {
        run_channels_sse4(work, end, 2);
    } else {
        run_channels_sse4(work, end, 1);
    }
}
#endif

static void clamped(const Work *work, size_t end, size_t channels) {
    if (channels == 2) {
        run(work, 0, end, 2, CROSSING, 1);
    } else {
        run(work, 0, end, 1, CROSSING, 1);
    }
}

size_t linux_gain_int16(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number) {
    const Work work = {source, target, frames, start, step, number};
    size_t count = (size_t)channels, end = frames * count / 8 * 8;
    if ((count != 1 && count != 2) || end == 0 || (step == 0 && (float)start == 0)) return 0;
    if (!is_moderate(&work)) {
        clamped(&work, end, count);
#ifdef GAIN_AVX2
    } else if (CPU_FEATURE_ACTIVE(AVX2)) {
        wide(&work, end, count);
#endif
#ifdef GAIN_SSE4
    } else if (CPU_FEATURE_ACTIVE(SSE4_1)) {
        middle(&work, end, count);
#endif
    } else {
        run_all(&work, end, count);
    }
    return end / count;
}
