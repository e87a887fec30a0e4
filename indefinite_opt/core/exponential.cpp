// The exponential function of all entries of a matrix, with an error below one unit in the last place.

#include "views.h"

namespace {

// 1.5 · 2⁵²: x + ROUNDER has the nearest integer to x in its last bits, for |x| < 2⁵¹.
constexpr double ROUNDER = 6755399441055744.0;

constexpr double LOG2_E = 1.4426950408889634;

// ln 2 in two parts; the first has so many zeros at its end that products with |n| < 2¹¹ are exact.
constexpr double LN2_HIGH = 0.6931471803691238, LN2_LOW = 1.9082149292705877e-10;

// Arguments outside have the value 0 or inf.
constexpr double LEAST = -746.0, MOST = 710.0;

typedef int64_t FourIntegers __attribute__((vector_size(32)));

inline FourIntegers bits_of(Four x) {
    FourIntegers bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// 2ⁿ for the integer n in the last bits of `rounded` = n + ROUNDER, where that is a normal number.
inline Four power_of_two(Four rounded) {
    constexpr int64_t ONE = 1023;
    const FourIntegers bits = (bits_of(rounded) + ONE) << 52;  // what is left of ROUNDER is shifted out
    Four power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

// exp(x) = 2ⁿ exp(r) with |r| ≤ ½ ln 2, and exp(r) by its Taylor polynomial of degree 13.
inline Four exponential(Four x) {
#ifdef __AVX__
    x = x < LEAST ? Four{} + LEAST : x;
    x = x > MOST ? Four{} + MOST : x;
#else  // gcc would make comparisons with branches of these
    for (Index h = 0; h < 4; ++h) x[h] = smaller(MOST, larger(LEAST, x[h]));
#endif
    const Four n = (x * LOG2_E + ROUNDER) - ROUNDER;
    const Four r = (x - n * LN2_HIGH) - n * LN2_LOW;
    const Four r2 = r * r, r4 = r2 * r2;
    const Four from_2 = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    const Four from_6 = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    const Four from_10 = (1.0 / 3628800 + r * (1.0 / 39916800)) +
                         r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
    const Four value = 1.0 + (r + r2 * (from_2 + r4 * (from_6 + r4 * from_10)));
    // In two steps, as the smallest values are no normal numbers, and the largest have n = 1024.
    const Four half = n * 0.5 + ROUNDER, rest = (n - (half - ROUNDER)) + ROUNDER;
    return value * power_of_two(half) * power_of_two(rest);
}

}  // namespace

// A_ij = exp(factor · A_ij), in place; NaN stays NaN.
EXPORT void exponential_of_multiples(Matrix A, double factor) {
    const Vector x = A.flat();
    Index t = 0;
    for (; t + 4 <= x.size; t += 4) {
        const Four value = exponential(four_at(x, t) * factor);
        memcpy(x.data + t, &value, sizeof value);
    }
    Four last{};
    for (Index k = t; k < x.size; ++k) last[k - t] = x[k];
    last = exponential(last * factor);
    for (Index k = t; k < x.size; ++k) x[k] = last[k - t];
}
