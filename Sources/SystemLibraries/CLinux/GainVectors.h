/* Vectors of the gains, in clang's notation, which compiles to the instructions of each processor. For the sources of the
   gains alone: Swift sees no vectors, and cannot use AVX2 in a single function. */
#pragma once
#include <stdint.h>
#ifdef __x86_64__
/* The C library asked the processor at the start of the process. A second question costs a virtual machine an exit. */
#include <sys/platform/x86.h>
/* Tests can leave out the widest instructions. */
#ifndef GAIN_WITHOUT_AVX2
#define GAIN_AVX2
#endif
#endif

/* A product and a sum are rounded one after the other, as in Swift. A fused instruction would give other results. */
#pragma STDC FP_CONTRACT OFF

/* Only inlined functions take vectors. */
#pragma clang diagnostic ignored "-Wpsabi"

#define INLINE static inline __attribute__((always_inline))

#ifdef __aarch64__
/* Its instructions round with halves away from zero, and narrow to the nearest integer that fits. */
#include <arm_neon.h>
#define GAIN_NEON
#endif

typedef uint8_t u8x16 __attribute__((ext_vector_type(16)));
typedef int16_t i16x8 __attribute__((ext_vector_type(8)));
typedef int32_t i32x4 __attribute__((ext_vector_type(4)));
typedef int32_t i32x8 __attribute__((ext_vector_type(8)));
typedef uint32_t u32x8 __attribute__((ext_vector_type(8)));
typedef uint64_t u64x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef double f64x4 __attribute__((ext_vector_type(4)));
