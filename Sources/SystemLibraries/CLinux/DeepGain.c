/* Gain of samples of 32 bit, four at a time: `SampleGain` of AudioCore defines each result, bit for bit. */
#include "CLinux.h"
#include <string.h>
/* Tests can leave out the widest instructions. */
#if defined(__x86_64__) && !defined(GAIN_WITHOUT_AVX2)
#include <sys/platform/x86.h>
#define GAIN_AVX2
#endif

/* A product and a sum are rounded one after the other, as in Swift. A fused instruction would give other results. */
#pragma STDC FP_CONTRACT OFF

/* Only inlined functions take vectors. */
#pragma clang diagnostic ignored "-Wpsabi"

typedef int32_t i32x4 __attribute__((ext_vector_type(4)));
typedef uint64_t u64x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef double f64x4 __attribute__((ext_vector_type(4)));

#define INLINE static inline __attribute__((always_inline))

/* Frames to process: integers, or floats of full scale 1. The factor of frame i is `start` + `step` * i. */
typedef struct {
    const void *source;
    void *target;
    size_t channels;
    double start, step;
} Work;

/* Rounds to an integer, with halves away from zero. Adding the double before 0.5 and truncating does that for every double. */
INLINE i32x4 rounded(f64x4 value) {
    value = value < 2147483647.0 ? value : (f64x4)2147483647.0;
    value = value > -2147483648.0 ? value : (f64x4)-2147483648.0;
    u64x4 half = ((u64x4)value & 0x8000000000000000u) | 0x3FDFFFFFFFFFFFFFu;
    return __builtin_convertvector(value + (f64x4)half, i32x4);
}

/* Processes the samples before `end`, which is a multiple of four. */
INLINE void run(const Work *given, size_t end, size_t channels, int is_float) {
    const Work work = *given;
    const char *source = work.source;
    char *target = work.target;
    f64x4 index = channels == 2 ? (f64x4){0, 0, 1, 1} : (f64x4){0, 1, 2, 3};
    for (size_t done = 0; done < end; done += 4) {
        f64x4 factor = work.start + work.step * index;
        if (is_float) {
            f32x4 in;
            memcpy(&in, source + 4 * done, sizeof in);
            in *= __builtin_convertvector(factor, f32x4);
            memcpy(target + 4 * done, &in, sizeof in);
        } else {
            i32x4 in;
            memcpy(&in, source + 4 * done, sizeof in);
            in = rounded(__builtin_convertvector(in, f64x4) * factor);
            memcpy(target + 4 * done, &in, sizeof in);
        }
        index += 4.0 / (double)channels;
    }
}

INLINE void run_all(const Work *work, size_t end, int is_float) {
    if (work->channels == 2) {
        run(work, end, 2, is_float);
    } else {
        run(work, end, 1, is_float);
    }
}

#ifdef GAIN_AVX2
__attribute__((target("avx2"))) static void wide(const Work *work, size_t end, int is_float) {
    if (is_float) {
        run_all(work, end, 1);
    } else {
        run_all(work, end, 0);
    }
}
#endif

static size_t scale(const Work *work, size_t frames, int is_float) {
    size_t end = frames * work->channels / 4 * 4;
    if (work->channels != 1 && work->channels != 2) return 0;
#ifdef GAIN_AVX2
    if (CPU_FEATURE_ACTIVE(AVX2)) {
        wide(work, end, is_float);
        return end / work->channels;
    }
#endif
    if (is_float) {
        run_all(work, end, 1);
    } else {
        run_all(work, end, 0);
    }
    return end / work->channels;
}

size_t linux_gain_int32(const int32_t *source, int32_t *target, size_t frames, int channels, double start, double step) {
    const Work work = {source, target, (size_t)channels, start, step};
    return scale(&work, frames, 0);
}

size_t linux_gain_float(const float *source, float *target, size_t frames, int channels, double start, double step) {
    const Work work = {source, target, (size_t)channels, start, step};
    return scale(&work, frames, 1);
}
