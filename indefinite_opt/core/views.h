// Arrays as the loops see them, sums in a fixed order, and memory that Python lends.
//
// The loops own no memory and keep no state. A product is never contracted with a sum, and a sum has
// the order that the source writes, so that every compiler and processor computes the same numbers.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

#ifdef CHECK_BOUNDS  // of every access, for tests; a release never aborts
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) \
    ((what) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what), abort()))
#else
#define CHECK(what) (void)0
#endif

// The size of a structure that Python states too, and where its fields are; a test compares them.
#define LAYOUT(type, ...)                                         \
    EXPORT const Index *layout_##type(void) {                     \
        using Type = type;                                        \
        static const Index found[] = {sizeof(Type), __VA_ARGS__}; \
        return found;                                             \
    }
#define AT(field) offsetof(Type, field)

// A constant that Python reads, so that it is stated once.
#define SHOWN(name) EXPORT const double constant_##name = static_cast<double>(name);

using Index = int64_t;

constexpr double INF = __builtin_huge_val();
constexpr double EPS = 2.220446049250313e-16;

template <class T>
struct View {  // of a vector without gaps
    T *data;
    Index size;
    T &operator[](Index i) const {
        CHECK(0 <= i && i < size);
        return data[i];
    }
    View part(Index first, Index last) const {  // entries first to last - 1
        CHECK(0 <= first && first <= last && last <= size);
        return {data + first, last - first};
    }
    operator View<const T>() const { return {data, size}; }
};

using Vector = View<double>;
using Constants = View<const double>;
using Indices = View<Index>;
using Places = View<const Index>;

template <class T>
struct Table {  // a matrix without gaps
    T *data;
    Index count, columns;
    View<T> operator[](Index i) const {
        CHECK(0 <= i && i < count);
        return {data + i * columns, columns};
    }
    Table part(Index first, Index last) const {  // rows first to last - 1
        CHECK(0 <= first && first <= last && last <= count);
        return {data + first * columns, last - first, columns};
    }
    View<T> flat() const { return {data, count * columns}; }
    operator Table<const T>() const { return {data, count, columns}; }
};

using Matrix = Table<double>;
using ConstantMatrix = Table<const double>;

struct Rows {  // a matrix whose rows have no gaps
    const double *data;
    Index count, columns, stride;
    Constants operator[](Index i) const {
        CHECK(0 <= i && i < count);
        return {data + i * stride, columns};
    }
};

// Memory of Python, from which blocks are taken and given back in the opposite order.
struct Lent {
    char *next, *end;
};

constexpr Index ALIGNMENT = 64;

template <class T>
struct Memory : View<T> {  // a block of lent memory, given back at the end of its scope
    Memory(Lent &lent, Index n)
        : View<T>{reinterpret_cast<T *>(lent.next), n}, lent(lent), before(lent.next) {
        const Index bytes = static_cast<Index>(sizeof(T)) * n;
        CHECK(n >= 0 && bytes <= lent.end - lent.next);
        lent.next += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    Memory(Lent &lent, Index n, T value) : Memory(lent, n) { fill(*this, value); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { lent.next = before; }

  private:
    Lent &lent;
    char *before;
};

template <class T>
inline void fill(View<T> target, T value) {
    for (Index t = 0; t < target.size; ++t) target[t] = value;
}

template <class T>
inline void copy(View<const T> source, View<T> target) {
    CHECK(source.size == target.size);
    memcpy(target.data, source.data, sizeof(T) * static_cast<size_t>(source.size));
}

inline void copy(Vector source, Vector target) { copy(Constants(source), target); }

inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }
inline double square(double x) { return x * x; }

// Four numbers, for which compilers use the vector instructions of the processor.
typedef double Four __attribute__((vector_size(32)));

inline Four four_at(Constants v, Index t) {
    CHECK(0 <= t && t + 4 <= v.size);
    Four found;
    memcpy(&found, v.data + t, sizeof(found));
    return found;
}

// Whether no entry is infinite or NaN, by their bits: the compiler may assume that none is NaN.
inline bool is_finite(Constants x) {
    constexpr uint64_t EXPONENT = 0x7ff0000000000000;
    Index others = 0;
    for (Index t = 0; t < x.size; ++t) {
        uint64_t bits;
        memcpy(&bits, &x[t], sizeof bits);
        others += (bits & EXPONENT) == EXPONENT;
    }
    return others == 0;
}

struct Parts {  // of a sum: every eighth term, added in pairs at the end
    Four half[2] = {};
    void add(Index k, double term) { half[k / 4][k % 4] += term; }
    double total() const {
        const Four pairs = half[0] + half[1];
        return (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]);
    }
};

// Σ term(t) for t < n.
template <class Term>
__attribute__((always_inline)) inline double sum(Index n, Term term) {
    Parts parts;
    Index t = 0;
    for (; t + 8 <= n; t += 8)
        for (Index h = 0; h < 2; ++h) {
            const Index at = t + 4 * h;
            parts.half[h] += Four{term(at), term(at + 1), term(at + 2), term(at + 3)};
        }
    for (Index k = 0; t < n; ++t, ++k) parts.add(k, term(t));
    return parts.total();
}

inline double dot(Constants a, Constants b) {
    CHECK(a.size == b.size);
    const Index n = a.size;
    Parts parts;
    Index t = 0;
    for (; t + 8 <= n; t += 8)
        for (Index h = 0; h < 2; ++h)
            parts.half[h] += four_at(a, t + 4 * h) * four_at(b, t + 4 * h);
    for (Index k = 0; t < n; ++t, ++k) parts.add(k, a[t] * b[t]);
    return parts.total();
}

// target += factor · source.
inline void add_multiple(Vector target, double factor, Constants source) {
    CHECK(target.size == source.size);
    for (Index t = 0; t < target.size; ++t) target[t] += factor * source[t];
}

// out = Ax, two rows at a time: their sums, each that of `dot`, do not wait for each other.
inline void multiply(ConstantMatrix A, Constants x, Vector out) {
    CHECK(A.columns == x.size && A.count == out.size);
    const Index n = x.size;
    Index i = 0;
    for (; i + 2 <= A.count; i += 2) {
        const Constants a = A[i], b = A[i + 1];
        Parts first, second;
        Index t = 0;
        for (; t + 8 <= n; t += 8)
            for (Index h = 0; h < 2; ++h) {
                const Four entries = four_at(x, t + 4 * h);
                first.half[h] += four_at(a, t + 4 * h) * entries;
                second.half[h] += four_at(b, t + 4 * h) * entries;
            }
        for (Index k = 0; t < n; ++t, ++k) {
            first.add(k, a[t] * x[t]);
            second.add(k, b[t] * x[t]);
        }
        out[i] = first.total(), out[i + 1] = second.total();
    }
    if (i < A.count) out[i] = dot(A[i], x);
}

// out = Aᵀx, the rows one after the other, four in each pass.
inline void multiply_transposed(ConstantMatrix A, Constants x, Vector out) {
    CHECK(A.count == x.size && A.columns == out.size);
    fill(out, 0.0);
    Index i = 0;
    for (; i + 4 <= A.count; i += 4) {
        const Constants a = A[i], b = A[i + 1], c = A[i + 2], d = A[i + 3];
        const double p = x[i], q = x[i + 1], r = x[i + 2], s = x[i + 3];
#pragma omp simd
        for (Index t = 0; t < out.size; ++t)
            out[t] = (((out[t] + p * a[t]) + q * b[t]) + r * c[t]) + s * d[t];
    }
    for (; i < A.count; ++i) add_multiple(out, x[i], A[i]);
}
