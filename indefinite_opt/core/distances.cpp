// Squared Euclidean distances and sums of magnitudes between points in rows.

#include "views.h"

namespace {

// Points on the right at a time: long enough for loops over them, and short enough that their
// coordinates, one array per feature, stay in the nearest cache for some dozens of features.
constexpr Index STRIP = 64;

// Share of ‖x‖² + ‖z‖² below which ‖x - z‖² is the sum of squared differences: that is where
// subtracting 2xᵀz from the norms would lose more than two binary digits.
constexpr double NEAR = 0.25;

// out[i, j] = Σ_k part(x_ik - z_jk), in the order of the features.
template <class Part>
void sums(ConstantMatrix X, ConstantMatrix Z, Matrix out, Lent lent, Part part) {
    Memory<double> memory(lent, X.columns * STRIP);
    const Matrix right{memory.data, X.columns, STRIP};
    for (Index first = 0; first < Z.count; first += STRIP) {
        const Index count = Z.count - first < STRIP ? Z.count - first : STRIP;
        for (Index j = 0; j < count; ++j)
            for (Index k = 0; k < Z.columns; ++k) right[k][j] = Z[first + j][k];
        for (Index i = 0; i < X.count; ++i) {
            const Vector total = out[i].part(first, first + count);
            fill(total, 0.0);
            Index k = 0;
            for (; k + 4 <= X.columns; k += 4) {  // sums are read and written once for four features
                const double p = X[i][k], q = X[i][k + 1], r = X[i][k + 2], s = X[i][k + 3];
                const Vector a = right[k], b = right[k + 1], c = right[k + 2], d = right[k + 3];
#pragma omp simd
                for (Index t = 0; t < count; ++t)
                    total[t] = (((total[t] + part(p - a[t])) + part(q - b[t])) + part(r - c[t])) +
                               part(s - d[t]);
            }
            for (; k < X.columns; ++k) {
                const double x = X[i][k];
                const Vector z = right[k];
                for (Index t = 0; t < count; ++t) total[t] += part(x - z[t]);
            }
        }
    }
}

double squared_distance(Constants x, Constants z) {
    return sum(x.size, [=](Index k) { return square(x[k] - z[k]); });
}

}  // namespace

SHOWN(STRIP)
SHOWN(NEAR)

EXPORT void distances_squares(ConstantMatrix X, ConstantMatrix Z, Matrix out, Lent lent) {
    sums(X, Z, out, lent, [](double difference) { return square(difference); });
}

EXPORT void distances_magnitudes(ConstantMatrix X, ConstantMatrix Z, Matrix out, Lent lent) {
    sums(X, Z, out, lent, [](double difference) { return fabs(difference); });
}

// out[i, j] = ‖x_i - z_j‖² in place of x_iᵀz_j; see `squares_by_products` in `distances.py`.
EXPORT void distances_from_products(
    ConstantMatrix X, ConstantMatrix Z, Constants left, Constants right, Matrix out, Lent lent) {
    Memory<double> excess(lent, STRIP);  // over what is computed from differences
    for (Index i = 0; i < X.count; ++i) {
        const double own = left[i];
        for (Index first = 0; first < Z.count; first += STRIP) {
            const Index last = Z.count - first < STRIP ? Z.count : first + STRIP;
            const Vector row = out[i].part(first, last);
            const Constants other = right.part(first, last);
            double least = INF;
#pragma omp simd reduction(min : least)
            for (Index j = 0; j < row.size; ++j) {
                const double norms = own + other[j];
                row[j] = norms - 2.0 * row[j];
                excess[j] = row[j] - NEAR * norms;
                least = smaller(least, excess[j]);
            }
            if (least >= 0.0) continue;
            for (Index j = 0; j < row.size; ++j)
                if (excess[j] < 0.0) row[j] = squared_distance(X[i], Z[first + j]);
        }
    }
}
