// Sums of products with one rounding: out_k = Σ_e a_e·x_j(e) - rhs_k over the entries e of row k.
//
// The sum is held as an integer with digits of 32 bits, wide enough for all products of two numbers
// of double precision (Kulisch & Miranker 1986, SIAM Review 28). Each digit is kept in 64 bits, so
// that carries wait until the end.

#include "views.h"

namespace {

constexpr Index BITS = 32;
constexpr Index LOWEST = -2176;  // the exponent of the last digit; products have at least -2148
constexpr Index DIGITS = 136;
constexpr int64_t DIGIT_MASK = 0xffffffff;

struct Number {  // (-1)^negative · whole · 2^exponent
    uint64_t whole;
    Index exponent;
    bool negative, finite;
};

Number parts(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & 0xfffffffffffff;
    const Index field = static_cast<Index>(bits >> 52 & 0x7ff);
    const uint64_t whole = field ? fraction | uint64_t{1} << 52 : fraction;
    return {whole, (field ? field : 1) - 1075, (bits >> 63) != 0, field != 0x7ff};
}

struct Sum {
    int64_t digits[DIGITS] = {};
    Index first = DIGITS, last = -1;  // digits that were added to
    bool finite = true;

    void add_digit(Index i, uint64_t part, bool negative) {
        CHECK(0 <= i && i < DIGITS);
        const int64_t digit = static_cast<int64_t>(part);
        digits[i] += negative ? -digit : digit;
    }

    // whole · 2^exponent with whole = high · 2^64 + low.
    void add(uint64_t high, uint64_t low, Index exponent, bool negative) {
        const Index place = exponent - LOWEST, i = place / BITS, shift = place % BITS;
        const uint64_t pieces[4] = {low & DIGIT_MASK, low >> 32, high & DIGIT_MASK, high >> 32};
        uint64_t carried = 0;
        for (Index k = 0; k < 4; ++k) {
            const uint64_t moved = pieces[k] << shift | carried;
            add_digit(i + k, moved & DIGIT_MASK, negative);
            carried = moved >> 32;
        }
        add_digit(i + 4, carried, negative);
        first = i < first ? i : first;
        last = i + 4 > last ? i + 4 : last;
    }

    void add_product(double a, double b) {
        if (b == 0.0) return;
        const Number p = parts(a), q = parts(b);
        finite = finite && p.finite && q.finite;
        if (!p.whole) return;
        const uint64_t p1 = p.whole >> 32, p0 = p.whole & DIGIT_MASK;
        const uint64_t q1 = q.whole >> 32, q0 = q.whole & DIGIT_MASK;
        const uint64_t middle = p1 * q0 + p0 * q1 + (p0 * q0 >> 32);  // below 2^55
        const uint64_t low = middle << 32 | (p0 * q0 & DIGIT_MASK);
        add(p1 * q1 + (middle >> 32), low, p.exponent + q.exponent, p.negative != q.negative);
    }

    void subtract(double value) {
        const Number p = parts(value);
        finite = finite && p.finite;
        if (p.whole) add(0, p.whole, p.exponent, !p.negative);
    }

    // The nearest number of double precision; one that is not 0 does not become 0.
    double rounded() {
        if (!finite) return INF;
        if (last < first) return 0.0;
        const Index end = last + 3 < DIGITS ? last + 3 : DIGITS;  // room for the carries
        const bool negative = carry(end) < 0;
        if (negative) {
            for (Index i = first; i < end; ++i) digits[i] = -digits[i];
            carry(end);
        }
        Index top = end - 1;
        while (top >= first && digits[top] == 0) --top;
        if (top < first) return 0.0;
        // The highest 64 bits, of which the last one stands for all that are below.
        uint64_t whole = 0;
        for (Index i = top; i > top - 3; --i) {
            const uint64_t digit = i < first ? 0 : static_cast<uint64_t>(digits[i]);
            if (i > top - 2) whole = whole << 32 | digit;
            else whole = widened(whole, digit);
        }
        bool below = spilled;
        for (Index i = top - 3; i >= first; --i) below = below || digits[i] != 0;
        // Of these 64 bits 53 are kept, and none below 2^-1074.
        const Index exponent = LOWEST + BITS * (top - 1) - moved;
        const Index dropped = exponent < -1085 ? -1074 - exponent : 11;
        double found = 0.0;
        if (dropped < 65) {
            uint64_t kept = dropped < 64 ? whole >> dropped : 0;
            const uint64_t half = uint64_t{1} << (dropped - 1);
            const uint64_t rest = dropped < 64 ? whole & (2 * half - 1) : whole;
            if (rest > half || (rest == half && (below || (kept & 1)))) ++kept;
            found = ldexp(static_cast<double>(kept), static_cast<int>(exponent + dropped));
        }
        if (found == 0.0) found = 4.9406564584124654e-324;
        return negative ? -found : found;
    }

  private:
    Index moved = 0;
    bool spilled = false;

    // Digits from 0 to 2^32 - 1 but for the last one, which has the sign and is returned.
    int64_t carry(Index end) {
        int64_t carried = 0;
        for (Index i = first; i < end - 1; ++i) {
            const int64_t digit = digits[i] + carried;
            digits[i] = digit & DIGIT_MASK;
            carried = digit >> BITS;
        }
        return digits[end - 1] += carried;
    }

    // The 64 bits from the first one that is not 0, of two digits and the next one.
    uint64_t widened(uint64_t whole, uint64_t next) {
        moved = __builtin_clzll(whole);
        spilled = (next << moved & DIGIT_MASK) != 0;
        return moved ? whole << moved | next >> (BITS - moved) : whole;
    }
};

}  // namespace

// The entries are in the order of their rows; INF where a number of the row is infinite or NaN.
EXPORT void exact_sums_residuals(Places row, Places member, Constants value, Constants x,
                                 Constants rhs, Vector out) {
    Index e = 0;
    for (Index k = 0; k < out.size; ++k) {
        Sum sum;
        for (; e < row.size && row[e] == k; ++e) sum.add_product(value[e], x[member[e]]);
        sum.subtract(rhs[k]);
        out[k] = sum.rounded();
    }
}
