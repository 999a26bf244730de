/* The gains of each sample format, for a comparison of processors.
   usage: gain                 prints a digest of many gains for each format
          gain FORMAT FRAMES   a moving gain over so many frames of stereo in 16, 24, 32 or float, to count instructions */
#include "CLinux.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 4200 };
static const char *const names[] = {"16", "24", "32", "float"};
static union { int16_t narrow[2 * most]; uint8_t packed[6 * most]; int32_t wide[2 * most]; float real[2 * most]; uint64_t words[most]; } source, target;
static uint64_t state = 0x9e3779b97f4a7c15u;

/* Pseudo-random numbers: Marsaglia's xorshift. */
static uint64_t next_number(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static size_t apply(int format, size_t frames, int channels, double start, double step) {
    switch (format) {
        case 0: return linux_gain_int16(source.narrow, target.narrow, frames, channels, start, step, state);
        case 1: return linux_gain_int24(source.packed, target.packed, frames, channels, start, step);
        case 2: return linux_gain_int32(source.wide, target.wide, frames, channels, start, step);
        default: return linux_gain_float(source.real, target.real, frames, channels, start, step);
    }
}

static void fill(int format, int has_silence) {
    for (size_t i = 0; i < most; i++) source.words[i] = next_number();
    if (format == 3) for (size_t i = 0; i < 2 * most; i++) source.real[i] = (float)((double)(int64_t)next_number() / 9.2e18);
    if (has_silence) memset((char *)&source + 64, 0, 640);
    memset(&target, 0, sizeof target);
}

static void digest(int format) {
    static const double starts[] = {1, 0.5, 0.3333, 0, -0.2, 2.5, 40000, 1e-9, -1, 0.9999999}, steps[] = {0, 1e-4, -1e-4, 7.7e-6, -3e-3};
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    size_t frames = 0;
    for (int channels = 1; channels <= 2; channels++)
        for (size_t a = 0; a < sizeof starts / sizeof *starts; a++)
            for (size_t b = 0; b < sizeof steps / sizeof *steps; b++)
                for (int round = 0; round < 10; round++) {
                    fill(format, round % 5 == 0);
                    frames += apply(format, 100 + next_number() % 2000, channels, starts[a], steps[b]);
                    const uint8_t *bytes = (const uint8_t *)&target;
                    for (size_t i = 0; i < sizeof target; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
                }
    printf("%s: %zu frames, %016llx\n", names[format], frames, (unsigned long long)hash);
}

int main(int count, char **arguments) {
    for (int format = 0; format < 4; format++) {
        if (count < 3) digest(format);
        else if (strcmp(arguments[1], names[format]) == 0) {
            fill(format, 0);
            return apply(format, strtoul(arguments[2], NULL, 10), 2, 0.3, 1e-5) == 0;
        }
    }
    return count >= 3;
}
