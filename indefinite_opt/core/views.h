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

// Offsets of the fields of a structure that Python states too, after its size; a test compares them.
#define LAYOUT(type, ...) EXPORT const Index layout_##type[] = {sizeof(type), __VA_ARGS__};
#define AT(type, field) offsetof(type, field)

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

// Σ term(t) for t < n, in eight partial sums that are added in pairs at the end.
//
// Clang would call it for each row of a matrix, which takes twice as long.
template <class Term>
__attribute__((always_inline)) inline double sum(Index n, Term term) {
    double part[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    Index t = 0;
    for (; t + 8 <= n; t += 8)
        for (Index k = 0; k < 8; ++k) part[k] += term(t + k);
    for (Index k = 0; t < n; ++t, ++k) part[k] += term(t);
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

inline double dot(Constants a, Constants b) {
    CHECK(a.size == b.size);
    return sum(a.size, [=](Index t) { return a[t] * b[t]; });
}

// target += factor · source.
inline void add_multiple(Vector target, double factor, Constants source) {
    CHECK(target.size == source.size);
    for (Index t = 0; t < target.size; ++t) target[t] += factor * source[t];
}

// out = Ax.
inline void multiply(ConstantMatrix A, Constants x, Vector out) {
    for (Index i = 0; i < A.count; ++i) out[i] = dot(A[i], x);
}

// out = Aᵀx.
inline void multiply_transposed(ConstantMatrix A, Constants x, Vector out) {
    fill(out, 0.0);
    for (Index i = 0; i < A.count; ++i) add_multiple(out, x[i], A[i]);
}
