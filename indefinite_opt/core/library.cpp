// What Python asks of the library itself: whether this processor, and its operating system, run the
// build with AVX2, and how arrays are handed over.

#include "views.h"

#ifndef SOURCES
#define SOURCES 0u
#endif

// The checksum of what was compiled.
EXPORT const uint32_t sources = SOURCES;

// Whether this build checks accesses. It then gets no more memory than it asked for.
#ifdef CHECK_BOUNDS
constexpr bool CHECKED = true;
#else
constexpr bool CHECKED = false;
#endif

SHOWN(CHECKED)

LAYOUT(Vector, AT(data), AT(size))
LAYOUT(Matrix, AT(data), AT(count), AT(columns))
LAYOUT(Rows, AT(data), AT(count), AT(columns), AT(stride))
LAYOUT(Lent, AT(next), AT(end))

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

namespace {

// The operating system keeps the upper halves of the vector registers (bits 1 and 2 of XCR0).
bool keeps_vectors() {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6u) == 6u;
}

}  // namespace

// Of x86-64-v3 the build uses AVX2, BMI1, BMI2, LZCNT and MOVBE.
EXPORT int32_t has_avx2(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    const unsigned osxsave = 1u << 27, avx = 1u << 28, movbe = 1u << 22;
    if ((c & (osxsave | avx | movbe)) != (osxsave | avx | movbe) || !keeps_vectors()) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    const unsigned bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
    if ((b & (bmi1 | avx2 | bmi2)) != (bmi1 | avx2 | bmi2)) return 0;
    if (!__get_cpuid(0x80000001u, &a, &b, &c, &d)) return 0;
    return (c & (1u << 5)) != 0;  // LZCNT
}
#else
EXPORT int32_t has_avx2(void) { return 0; }
#endif
