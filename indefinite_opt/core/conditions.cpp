// What equality constraints a_kᵀx = rhs_k allow the variables of a box.
//
// In [lower, upper] the other variables leave a_i x_i the range from rhs - Σ_j max(a_j x_j) to
// rhs - Σ_j min(a_j x_j), over j ≠ i.

#include "views.h"

namespace {

// The least positive number: a quotient that underflows is off by less.
constexpr double least_positive = 4.9406564584124654e-324;

struct Equations {
    ConstantMatrix rows;
    Constants rhs;
};

// Intersect [low, high] with what one equation allows; it may be missed by `share` of its terms.
void cut_by_row(
    Constants row, double rhs, Constants lower, Constants upper, double share, double tiny,
    Vector low, Vector high) {
    double least = 0.0, most = 0.0, size = fabs(rhs);
    for (Index i = 0; i < row.size; ++i) {
        const double one = row[i] * lower[i], other = row[i] * upper[i];
        least += smaller(one, other);
        most += larger(one, other);
        size += fabs(one) + fabs(other);
    }
    const double slack = share * size + tiny;
    for (Index i = 0; i < row.size; ++i) {
        const double a = row[i];
        if (a == 0.0) continue;
        const double one = a * lower[i], other = a * upper[i];
        // The range of a_i x_i that the other variables allow.
        const double floor = rhs - most - slack + larger(one, other);
        const double roof = rhs - least + slack + smaller(one, other);
        low[i] = larger(low[i], (a > 0.0 ? floor : roof) / a - least_positive);
        high[i] = smaller(high[i], (a > 0.0 ? roof : floor) / a + least_positive);
    }
}

}  // namespace

LAYOUT(Equations, AT(rows), AT(rhs))

// The rows of `left` are what remains of [lower, upper].
EXPORT void cut_by_rows(
    const Equations &equations, Constants lower, Constants upper, double share, double tiny,
    Matrix left) {
    const Vector low = left[0], high = left[1];
    copy(lower, low);
    copy(upper, high);
    for (Index k = 0; k < equations.rows.count; ++k)
        cut_by_row(equations.rows[k], equations.rhs[k], lower, upper, share, tiny, low, high);
}
