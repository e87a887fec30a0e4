// Sums that bound norms of a matrix: Σ_j |K_ij| and Σ_j K_ij² of each row i.

#include "views.h"

EXPORT void norms_row_norms(Rows K, Vector sums, Vector squares) {
    for (Index i = 0; i < K.count; ++i) {
        const Constants row = K[i];
        sums[i] = sum(row.size, [=](Index j) { return fabs(row[j]); });
        squares[i] = dot(row, row);
    }
}
