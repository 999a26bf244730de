/* Without an argument: a checksum of what each gain makes of random samples, for a comparison of two processors.
   gain FORMAT FRAMES: one gain that moves, of FRAMES frames, so that a tool can count its instructions. */
#include "CLinux.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

enum { MOST = 8192 };
static union { int16_t i16[MOST]; uint8_t i24[3 * MOST]; int32_t i32[MOST]; float f[MOST]; uint64_t words[MOST / 2]; } in, out;

static size_t apply(const char *format, size_t frames, int channels, double start, double step, uint64_t number) {
    if (strcmp(format, "16") == 0) return linux_gain_int16(in.i16, out.i16, frames, channels, start, step, number);
    if (strcmp(format, "24") == 0) return linux_gain_int24(in.i24, out.i24, frames, channels, start, step);
    if (strcmp(format, "32") == 0) return linux_gain_int32(in.i32, out.i32, frames, channels, start, step);
    return linux_gain_float(in.f, out.f, frames, channels, start, step);
}

static void fill(int floats) {
    for (size_t i = 0; i < sizeof in / 8; i++) in.words[i] = next();
    if (floats) for (size_t i = 0; i < MOST; i++) in.f[i] = (float)((double)(int64_t)next() / 9.3e18);
}

int main(int count, char **arguments) {
    static const char *formats[] = {"16", "24", "32", "float"};
    static const double starts[] = {1, 0.5, 0.3333, 0, -0.2, 2.5, 40000, 1e-9, -1, 0.9999999, 3e38, -1e300, INFINITY, -INFINITY, NAN},
                        steps[] = {0, 1e-4, -1e-4, 7.7e-6, -3e-3, 50};
    if (count == 3) {
        fill(strcmp(arguments[1], "float") == 0);
        return apply(arguments[1], (size_t)atol(arguments[2]), 2, 0.25, 1e-5, 0) > MOST;
    }
    for (int format = 0; format < 4; format++) {
        uint64_t sum = 14695981039346656037u;
        size_t frames = 0;
        for (int channels = 1; channels <= 2; channels++)
            /* A float may become a NaN, whose sign differs between processors. */
            for (size_t start = 0; start < sizeof starts / sizeof *starts - (format == 3 ? 4 : 0); start++)
                for (size_t step = 0; step < sizeof steps / sizeof *steps; step++)
                    for (int round = 0; round < 10; round++) {
                        fill(format == 3);
                        if (round % 5 == 0) memset((char *)&in + 64, 0, 640);
                        memset(&out, 0, sizeof out);
                        size_t done = apply(formats[format], 100 + next() % 1500, channels, starts[start], steps[step], next());
                        frames += done;
                        for (size_t i = 0; i < sizeof out / 8; i++) sum = (sum ^ out.words[i]) * 1099511628211u;
                        sum = (sum ^ done) * 1099511628211u;
                    }
        printf("%s: %zu frames, %016llx\n", formats[format], frames, (unsigned long long)sum);
    }
}
