/* Gain of samples of 24 and 32 bit, four at a time: `SampleGain` of AudioCore defines each result, bit for bit. */
#include "CLinux.h"
#include "GainVectors.h"
#include <string.h>

/* Integers of 32 bit, floats of full scale 1, and integers of 24 bit in 3 bytes, which only little-endian processors take. */
enum { WHOLE, FLOATING, PACKED };

/* Frames to process. The factor of frame i is `start` + `step` * i. */
typedef struct {
    const void *source;
    void *target;
    size_t channels;
    double start, step;
} Work;

/* Rounds to an integer, with halves away from zero. Adding the double before 0.5 and truncating does that for every double. */
INLINE i32x4 rounded(f64x4 value, double limit) {
#ifdef GAIN_NEON
    /* The smaller of a number and a NaN is the number, as below. */
    const float64x2_t most = vdupq_n_f64(limit - 1);
    int64x2_t low = vcvtaq_s64_f64(vminnmq_f64((float64x2_t)value.lo, most));
    int64x2_t high = vcvtaq_s64_f64(vminnmq_f64((float64x2_t)value.hi, most));
    int32x4_t whole = vqmovn_high_s64(vqmovn_s64(low), high);
    return (i32x4)vmaxq_s32(whole, vdupq_n_s32((int32_t)-limit));
#else
    value = value < limit - 1 ? value : (f64x4)(limit - 1);
    value = value > -limit ? value : (f64x4)-limit;
    u64x4 half = ((u64x4)value & 0x8000000000000000u) | 0x3FDFFFFFFFFFFFFFu;
    return __builtin_convertvector(value + (f64x4)half, i32x4);
#endif
}

/* Four samples of 3 bytes, and the way back. */
INLINE i32x4 load_packed(const char *source) {
    u8x16 in = 0;
    memcpy(&in, source, 12);
    in = __builtin_shufflevector(in, in, 15, 0, 1, 2, 15, 3, 4, 5, 15, 6, 7, 8, 15, 9, 10, 11);
    return (i32x4)in >> 8;
}
INLINE void store_packed(i32x4 samples, char *target) {
    u8x16 out = (u8x16)samples;
    out = __builtin_shufflevector(out, out, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
    memcpy(target, &out, 12);
}

#ifdef GAIN_NEON
/* Factors of two frames. */
INLINE float64x2_t frame_factors(const Work *work, f64x4 index) {
    return vaddq_f64(vdupq_n_f64(work->start), vmulq_n_f64((float64x2_t)index.lo, work->step));
}
#endif

/* The frames of four samples; for stereo on NEON, whose registers hold two numbers, two frames in the lower half. */
INLINE f64x4 first_index(size_t channels) {
#ifdef GAIN_NEON
    (void)channels;
    return (f64x4){0, 1, 2, 3};
#else
    return channels == 2 ? (f64x4){0, 0, 1, 1} : (f64x4){0, 1, 2, 3};
#endif
}
INLINE f64x4 next_index(f64x4 index, size_t channels) {
#ifdef GAIN_NEON
    if (channels == 2) {
        index.lo += 2;
        return index;
    }
#endif
    return index + 4.0 / (double)channels;
}

/* Factors of four samples. */
INLINE f64x4 factors(const Work *work, f64x4 index, size_t channels) {
#ifdef GAIN_NEON
    if (channels == 2) {
        float64x2_t pair = frame_factors(work, index);
        return __builtin_shufflevector(pair, pair, 0, 0, 1, 1);
    }
#endif
    (void)channels;
    return work->start + work->step * index;
}
INLINE f32x4 float_factors(const Work *work, f64x4 index, size_t channels) {
#ifdef GAIN_NEON
    if (channels == 2) {
        float32x2_t pair = vcvt_f32_f64(frame_factors(work, index));
        return __builtin_shufflevector(pair, pair, 0, 0, 1, 1);
    }
#endif
    return __builtin_convertvector(factors(work, index, channels), f32x4);
}

/* Processes the samples before `end`, which is a multiple of four. */
INLINE void run(const Work *given, size_t end, size_t channels, int kind) {
    const Work work = *given;
    const char *source = work.source;
    char *target = work.target;
    f64x4 index = first_index(channels);
    for (size_t done = 0; done < end; done += 4) {
        if (kind == PACKED) {
            i32x4 in = load_packed(source + 3 * done);
            store_packed(rounded(__builtin_convertvector(in, f64x4) * factors(&work, index, channels), 0x1p23), target + 3 * done);
        } else if (kind == FLOATING) {
            f32x4 in;
            memcpy(&in, source + 4 * done, sizeof in);
            in *= float_factors(&work, index, channels);
            memcpy(target + 4 * done, &in, sizeof in);
        } else {
            i32x4 in;
            memcpy(&in, source + 4 * done, sizeof in);
            in = rounded(__builtin_convertvector(in, f64x4) * factors(&work, index, channels), 0x1p31);
            memcpy(target + 4 * done, &in, sizeof in);
        }
        index = next_index(index, channels);
    }
}

INLINE void run_channels(const Work *work, size_t end, int kind) {
    if (work->channels == 2) {
        run(work, end, 2, kind);
    } else {
        run(work, end, 1, kind);
    }
}

INLINE void run_all(const Work *work, size_t end, int kind) {
    if (kind == PACKED) {
        run_channels(work, end, PACKED);
    } else if (kind == FLOATING) {
        run_channels(work, end, FLOATING);
    } else {
        run_channels(work, end, WHOLE);
    }
}

#ifdef GAIN_AVX2
__attribute__((target("avx2"))) static void wide(const Work *work, size_t end, int kind) { run_all(work, end, kind); }
#endif

static size_t scale(const Work *work, size_t frames, int kind) {
    size_t end = frames * work->channels / 4 * 4;
    if (work->channels != 1 && work->channels != 2) return 0;
#ifdef GAIN_AVX2
    if (CPU_FEATURE_ACTIVE(AVX2)) {
        wide(work, end, kind);
        return end / work->channels;
    }
#endif
    run_all(work, end, kind);
    return end / work->channels;
}

size_t linux_gain_int24(const void *source, void *target, size_t frames, int channels, double start, double step) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const Work work = {source, target, (size_t)channels, start, step};
    return scale(&work, frames, PACKED);
#else
    return 0;
#endif
}

size_t linux_gain_int32(const int32_t *source, int32_t *target, size_t frames, int channels, double start, double step) {
    const Work work = {source, target, (size_t)channels, start, step};
    return scale(&work, frames, WHOLE);
}

size_t linux_gain_float(const float *source, float *target, size_t frames, int channels, double start, double step) {
    const Work work = {source, target, (size_t)channels, start, step};
    return scale(&work, frames, FLOATING);
}
