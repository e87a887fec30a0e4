// One pass over a square matrix of doubles or floats: whether it is finite and symmetric, its extremes,
// and its digest.
//
// The digest is Σ_ij lo(w_ij) hi(w_ij) modulo 2⁶⁴, where lo and hi are the halves of 32 bits of w_ij, which
// is the exclusive or of a key of i and j and the bits of K_ij as a double (the function NH of Black et al.
// 1999, UMAC). The key is key_j + M key_i, as one of j alone would not tell entries of a column apart that
// change places. Zeros of both signs have the bits of the positive one.

#include "views.h"

namespace {

// Order of a square tile: two of them, and the transposed copy of one, fit into the nearest caches.
constexpr Index TILE = 64;

// Distance of the rows of the transposed copy: no power of two, as caches have places for few rows then.
constexpr Index APART = TILE + 8;

// M, an odd number of 64 random bits.
constexpr uint64_t OF_ROW = 0xd1342543de82ef95;

typedef uint64_t FourWords __attribute__((vector_size(32)));

inline FourWords bits_of(Four x) {
    FourWords bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline Four doubles_at(Constants v, Index t) { return four_at(v, t); }

inline Four doubles_at(View<const float> v, Index t) {
    CHECK(0 <= t && t + 4 <= v.size);
    const float *x = v.data + t;
    return Four{x[0], x[1], x[2], x[3]};
}

struct Known {  // of the entries that have been read; every fourth one of a row in its own part
    Four least = Four{} + INF, most = Four{} - INF;
    FourWords others{}, digest{};

    template <bool digested>
    void take(Four x, FourWords keys) {
        constexpr uint64_t EXPONENT = 0x7ff0000000000000, LAST = 0x0010000000000000;
        const FourWords bits = bits_of(x);
#ifdef __AVX__
        least = x < least ? x : least;
        most = x > most ? x : most;
#else  // gcc would make single comparisons with branches of these
        for (Index h = 0; h < 4; ++h) least[h] = smaller(x[h], least[h]);
        for (Index h = 0; h < 4; ++h) most[h] = larger(x[h], most[h]);
#endif
        others |= (bits & EXPONENT) + LAST;  // whose highest bit is 1 for inf and NaN
        if (!digested) return;
        constexpr uint64_t NEGATIVE_ZERO = 0x8000000000000000;
        const FourWords words = (bits & (FourWords)(bits != NEGATIVE_ZERO)) ^ keys;
        digest += (words & 0xffffffff) * (words >> 32);
    }
};

template <class T, bool digested>
inline void take(Known &known, View<const T> x, View<const uint64_t> keys, uint64_t row) {
    Index t = 0;
    for (; t + 4 <= x.size; t += 4) {
        FourWords own{};
        if (digested) memcpy(&own, keys.part(t, t + 4).data, sizeof own);
        known.take<digested>(doubles_at(x, t), own + row);
    }
    for (; t < x.size; ++t) {  // what is beside it counts for nothing
        const double entry = x[t];
        Known one;
        one.take<digested>(Four{} + entry, FourWords{digested ? keys[t] + row : 0});
        known.least[0] = smaller(entry, known.least[0]);
        known.most[0] = larger(entry, known.most[0]);
        known.others |= one.others;
        known.digest[0] += one.digest[0];
    }
}

// Fetch a part of a row that is read soon; that of a row that is read on is fetched by itself.
template <class T>
inline void fetch(Table<const T> K, Index row, Index first) {
    constexpr Index LINE = 64 / static_cast<Index>(sizeof(T));
    const Index last = first + TILE < K.columns ? first + TILE : K.columns;
    if (row >= K.count) return;
    for (Index t = first; t < last; t += LINE) __builtin_prefetch(&K[row][t]);
}

struct Found {  // see `Scan` in `symmetry.py`
    double least, most;
    Index finite, symmetric;
    uint64_t digest;
};

// A tile above the diagonal, or on it, and the one below the diagonal; whether they are equal.
template <class T, bool digested>
bool compare(
    Table<const T> K, View<const uint64_t> keys, View<T> mirror, Index top, Index left, Known &all) {
    const Index n = K.count, bottom = top + TILE < n ? top + TILE : n;
    const Index right = left + TILE < n ? left + TILE : n, width = right - left;
    Known known = all;
    for (Index j = 0; j < width; ++j) {
        const View<const T> x = K[left + j].part(top, bottom);
        fetch(K, right + j, top);
        if (left != top)
            take<T, digested>(
                known, x, digested ? keys.part(top, bottom) : keys,
                digested ? OF_ROW * keys[left + j] : 0);
        for (Index i = 0; i < x.size; ++i) mirror[i * APART + j] = x[i];
    }
    Index unequal = 0;
    for (Index i = 0; i < bottom - top; ++i) {
        const View<const T> x = K[top + i].part(left, right);
        const View<T> y = mirror.part(i * APART, i * APART + width);
        take<T, digested>(
            known, x, digested ? keys.part(left, right) : keys,
            digested ? OF_ROW * keys[top + i] : 0);
#pragma omp simd reduction(+ : unequal)
        for (Index j = 0; j < width; ++j) unequal += x[j] != y[j];
    }
    all = known;
    return unequal == 0;
}

template <class T, bool digested>
Found scan(Table<const T> K, View<const uint64_t> keys, Lent lent) {
    Memory<T> mirror(lent, TILE * APART);
    Known all;
    bool symmetric = true;
    for (Index top = 0; top < K.count; top += TILE)
        for (Index left = top; left < K.count; left += TILE)
            symmetric &= compare<T, digested>(K, keys, mirror, top, left, all);
    Found found{INF, -INF, true, symmetric, 0};
    for (Index h = 0; h < 4; ++h) {
        found.least = smaller(found.least, all.least[h]);
        found.most = larger(found.most, all.most[h]);
        found.finite &= !(all.others[h] >> 63);
        found.digest += all.digest[h];
    }
    return found;
}

template <class T>
Found chosen(Table<const T> K, View<const uint64_t> keys, Lent lent) {
    const View<const uint64_t> none{keys.data, 0};
    return keys.size ? scan<T, true>(K, keys, lent) : scan<T, false>(K, none, lent);
}

}  // namespace

SHOWN(TILE)
SHOWN(APART)

LAYOUT(Found, AT(least), AT(most), AT(finite), AT(symmetric), AT(digest))

EXPORT void symmetry_scan(
    ConstantMatrix K, View<const uint64_t> keys, Found *found, Lent lent) {
    *found = chosen(K, keys, lent);
}

EXPORT void symmetry_scan_single(
    Table<const float> K, View<const uint64_t> keys, Found *found, Lent lent) {
    *found = chosen(K, keys, lent);
}
