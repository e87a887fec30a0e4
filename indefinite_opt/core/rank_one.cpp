// Eigenvalues of diag(d) + σuuᵀ, σ > 0, one at a time.
//
// They are the roots of the secular equation g(λ) = 1 + Σ_k s_k/(d_k - λ) = 0 with s_k = σu_k², one
// to the right of every pole d_k with s_k ≠ 0 (Golub 1973; Bunch, Nielsen & Sorensen 1978). Each is
// computed as its distance τ from the nearer of the two poles around it, so that
// d_k - λ = (d_k - pole) - τ is accurate for every k, however close the root is to a pole.
//
// The eigenvector of a root is u_k/(d_k - λ) up to a factor, with squared norm g'(λ)/σ. Hence only
// sums over 1/(d_k - λ) are needed, O(n) per root, and no eigenvectors.

#include "views.h"

namespace {

struct Poles {  // the distinct eigenvalues, ascending, and for each coordinate its index among them
    Constants values;
    Places pole_of;
};

struct Sum {
    double value, slope;
};

// Σ s/(d - λ) and its derivative at λ = pole + x; 1/(d - λ) is stored.
Sum evaluate(Constants d, Constants s, double pole, double x, Vector inverse) {
    Parts values, slopes;
    const Index n = d.size;
    Index t = 0;
    for (; t + 8 <= n; t += 8)
        for (Index h = 0; h < 2; ++h) {
            const Index at = t + 4 * h;
            const Four inverted = 1.0 / ((four_at(d, at) - pole) - x);
            const Four term = four_at(s, at) * inverted;
            memcpy(&inverse[at], &inverted, sizeof(inverted));
            values.half[h] += term;
            slopes.half[h] += term * inverted;
        }
    for (Index k = 0; t < n; ++t, ++k) {
        const double inverted = inverse[t] = 1.0 / ((d[t] - pole) - x), term = s[t] * inverted;
        values.add(k, term);
        slopes.add(k, term * inverted);
    }
    return {values.total(), slopes.total()};
}

// The root of cη² - aη + b = 0 that tends to b/a for c → 0, computed without cancellation.
double smaller_root(double a, double b, double c) {
    const double root = sqrt(fabs(a * a - 4.0 * b * c));
    if (a > 0.0) return 2.0 * b / (a + root);
    return c != 0.0 ? (a - root) / (2.0 * c) : b / a;
}

struct Root {  // λ, λ - d_j, and g'(λ)
    double value, distance, slope;
};

// The root to the right of pole j, by the middle way of Li (1993).
//
// Let p be the nearer one of the two poles around the root, o the other one, and x = λ - p. At an
// iterate, the sum ψ over the poles on the side of p, and the sum φ over those on the side of o,
// are each replaced by a constant and one pole that agree with it in value and slope,
//
//     (1)  ψ ≈ ψ₀ - A/x,  A = x²ψ',    φ ≈ φ₀ + B/(o - p - x),  B = (o - λ)²φ',
//
// so that with c = 1 + ψ₀ + φ₀ = g + xψ' - (o - λ)φ' the next x solves
//
//     (2)  c - A/x + B/(o - p - x) = 0,  or  cx² - (c(o - p) + A + B)x + A(o - p) = 0.
//
// To the right of the last pole, where the root is at most Σs away, o is 2Σs away. The first λ is
// the midpoint, where the sign of g tells which pole is nearer to the root. Steps that leave the
// bracket are replaced by bisection.
//
// Poles d ascend and have positive weights s; 1/(d - λ) is stored. The distance λ - d_j has an
// error of at most a few eps·Σ|terms of g|/g'.
Root solve_root(Constants d, Constants s, Index j, Vector inverse) {
    const Index r = d.size;
    const bool is_last = j + 1 == r;
    const Constants d_left = d.part(0, j + 1), d_right = d.part(j + 1, r);
    const Constants s_left = s.part(0, j + 1), s_right = s.part(j + 1, r);
    const Vector inverse_left = inverse.part(0, j + 1), inverse_right = inverse.part(j + 1, r);
    Index near = j;
    double other = is_last ? 2.0 * sum(s.size, [=](Index k) { return s[k]; }) : d[j + 1] - d[j];
    double x = 0.5 * other, low = 0.0, high = other, slope = 0.0;
    // Three to five steps are usual, and bisection would not need more.
    for (Index step = 0; step < 100; ++step) {
        const Sum left = evaluate(d_left, s_left, d[near], x, inverse_left);
        const Sum right = evaluate(d_right, s_right, d[near], x, inverse_right);
        const double g = 1.0 + left.value + right.value;
        slope = left.slope + right.slope;
        if (step == 0 && g < 0.0 && !is_last) {
            near = j + 1, other = -other;
            x = -x, low = x, high = 0.0;
        }
        // The rounding of the terms of g.
        if (fabs(g) <= 4.0 * EPS * (1.0 + right.value - left.value + fabs(x) * slope)) break;
        (g < 0.0 ? low : high) = x;
        const double near_slope = near == j ? left.slope : right.slope;
        const double far_slope = near == j ? right.slope : left.slope, far = other - x;
        const double c = g + x * near_slope - far * far_slope;
        const double A = x * x * near_slope, B = far * far * far_slope;
        double following = smaller_root(c * other + A + B, A * other, c);
        if (!(low < following && following < high)) following = 0.5 * (low + high);
        if (following == x) break;
        x = following;
    }
    return {d[near] + x, (d[near] - d[j]) + x, slope};
}

struct Gathered {  // σ‖u‖², and how many poles move
    double total;
    Index moving;
};

// σΣu² of every pole, and the indices of the poles that move.
//
// A pole remains an eigenvalue, with the same eigenvectors, if the part of σuuᵀ that couples it to
// the others is below the rounding of the whole matrix.
Gathered gather_weights(
    Constants u, const Poles &poles, double sigma, Vector weights, Indices active) {
    const Constants values = poles.values;
    fill(weights, 0.0);
    for (Index k = 0; k < u.size; ++k) weights[poles.pole_of[k]] += sigma * u[k] * u[k];
    const double total = sum(weights.size, [=](Index c) { return weights[c]; });
    const double ends = larger(fabs(values[0]), fabs(values[values.size - 1]));
    const double rounding = square(4.0 * EPS * larger(ends, total));
    Index moving = 0;
    for (Index c = 0; c < values.size; ++c)
        if (weights[c] * total > rounding) active[moving++] = c;
    return {total, moving};
}

struct Smoothed {
    double value, slope;
};

// h_ε(λ) = 2λφ - φ² with φ = max over 0 ≤ v ≤ 1 of vλ - εv²/2, and half its derivative.
//
// For ε = 0 these are max(λ, 0)² and max(λ, 0).
Smoothed smoothed(double value, double epsilon) {
    if (value <= 0.0) return {0.0, 0.0};
    if (value < epsilon) {
        const double v = value / epsilon, phi = 0.5 * v * value;
        return {phi * (2.0 * value - phi), value * v * (1.5 - 0.5 * v)};
    }
    return {value * value - 0.25 * epsilon * epsilon, value};
}

}  // namespace

LAYOUT(Poles, AT(values), AT(pole_of))

EXPORT Index rank_one_weights(
    Constants u, const Poles *poles, double sigma, Vector weights, Indices active, double *total) {
    const Gathered gathered = gather_weights(u, *poles, sigma, weights, active);
    *total = gathered.total;
    return gathered.moving;
}

EXPORT void rank_one_roots(
    Constants d, Constants s, Vector values, Vector distances, Vector slopes, Matrix inverse) {
    for (Index j = 0; j < d.size; ++j) {
        const Root root = solve_root(d, s, j, inverse[j]);
        values[j] = root.value, distances[j] = root.distance, slopes[j] = root.slope;
    }
}

// ½(‖M₊‖² - ‖D₊‖²)/(2σ) and q = M₊u for M = D + σuuᵀ, in the coordinates of D.
//
// In the eigenspace of a multiple pole one direction moves and the others remain. With ε > 0,
// h_ε(λ) replaces max(λ, 0)², and ½h_ε'(λ) replaces max(λ, 0); see `smoothed`. The number returned
// is the change of ρ‖·₊‖² with ρ = 1/(4σ).
//
// The eigenvector of λ is u_k/(d_k - λ) divided by √(g'/σ), and its product with u is
// (g - 1)/σ = -1/σ divided by the same. Hence from the positive roots
// (M₊u)_k = -Σ ½h_ε'(λ)/g'(λ) · u_k/(d_k - λ), and the change is ρ Σ (h_ε(λ) - h_ε(d_j)). For
// ε = 0 the negative roots give the same, if they are fewer: M₊u = Mu - M₋u with
// (Mu)_k = (d_k + σ‖u‖²)u_k, and the change is ½uᵀDu + σ‖u‖⁴/4 - ρ Σ (min(λ, 0)² - d_j²).
EXPORT double rank_one_positive_part(
    Constants u, const Poles &poles, double sigma, double epsilon, Vector result, Lent lent) {
    const Index count = poles.values.size;
    Memory<double> weights(lent, count);
    Memory<Index> active(lent, count);
    const Gathered gathered = gather_weights(u, poles, sigma, weights, active);
    const Index r = gathered.moving;
    const double total = gathered.total;
    Memory<double> d(lent, r), s(lent, r), inverse(lent, r), sums(lent, r, 0.0);
    for (Index k = 0; k < r; ++k) d[k] = poles.values[active[k]], s[k] = weights[active[k]];
    Index negative = 0;
    while (negative < r && d[negative] < 0.0) ++negative;
    const bool below = epsilon == 0.0 && negative <= r - negative + 1;
    const Index first = below || negative == 0 ? 0 : negative - 1, last = below ? negative : r;
    double change = 0.0;
    if (below) {
        change = total * total;
        for (Index k = 0; k < r; ++k) {
            change += 2.0 * s[k] * d[k];
            sums[k] = d[k] + total;
        }
    }
    for (Index j = first; j < last; ++j) {
        const Root root = solve_root(d, s, j, inverse);
        if (below == (root.value >= 0.0)) {  // it has left the side on which roots count
            change += below ? d[j] * d[j] : 0.0;
            continue;
        }
        const double moved = root.distance * (2.0 * d[j] + root.distance);
        double part = -root.value;
        if (below) {
            change -= moved;
        } else {
            const Smoothed after = smoothed(root.value, epsilon), before = smoothed(d[j], epsilon);
            part = after.slope;
            change += d[j] >= epsilon ? moved : after.value - before.value;
        }
        add_multiple(sums, -part / root.slope, inverse);
    }
    Index k = 0;
    for (Index c = 0; c < count; ++c) {
        if (k < r && active[k] == c) {
            weights[c] = sums[k++];
        } else {
            const double factor = smoothed(poles.values[c], epsilon).slope;
            change += 2.0 * factor * weights[c];
            weights[c] = factor;
        }
    }
    for (Index t = 0; t < u.size; ++t) result[t] = weights[poles.pole_of[t]] * u[t];
    return 0.25 / sigma * change;
}
