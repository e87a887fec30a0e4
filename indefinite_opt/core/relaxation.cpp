// Loops of the doubly nonnegative relaxation.
//
// The lifted point is Z = zzᵀ of z = (1, x, s) with s = 1 - x. With d = x - s z is linear in
// (1, d), and orthonormal coordinates of it are u = (θ, d/√2), θ² = ω + n/2, where the coordinate 1
// of z has weight √ω: so Z = WUWᵀ costs O(n²), without any product of matrices.
//
// Z is stored in parts without repetition:
//
// - `pairs` (n(n-1)/2, 4), row i(i-1)/2 + j for i > j: x_i x_j, x_i s_j, s_i x_j, s_i s_j;
// - `ends` (n, 2): x_i, s_i;
// - `squares` (n, 3): x_i², x_i s_i, s_i².
//
// Their weights in the inner product of symmetric matrices are 2, 2ω and (1, 2, 1), and ω² for the
// coordinate 1·1.

#include "views.h"

namespace {

// Iterations between two comparisons of the primal with the dual residual.
constexpr Index BALANCE_PERIOD = 25;

// Factor of over-relaxation; 1.5 to 1.8 is usual (Boyd et al. 2011, section 3.4.3).
constexpr double OVER_RELAXATION = 1.6;

// Passes over the multipliers of the inequalities in each iteration.
constexpr Index SWEEPS_PER_ITERATION = 2;

// Ratio of the two residuals, after balancing, above which the penalty changes.
constexpr double MAX_IMBALANCE = 2.0;

// Most literals of an inequality.
constexpr Index MAX_LITERALS = 7;

// Most exchanges of a literal for another one in the search for a violated inequality, and what
// each must gain at least, so that rounding does not lead in a circle.
constexpr Index MAX_EXCHANGES = 20;
constexpr double MIN_GAIN = 1e-9;

// Largest order of a matrix for which LAPACK counts its memory in 32-bit integers.
constexpr Index MAX_ORDER = 32000;

// What `project` returns for a matrix that has no eigenvalues; LAPACK's numbers are others.
constexpr Index NOT_FINITE = -100;

struct Model {
    ConstantMatrix cost, lines;
    View<const bool> binary;
    double omega, balance;
};

struct Inequalities {  // Σ_q signs_q · (product at places_q) ≥ least, for each row of places
    Vector multipliers;
    Table<const Index> places;
    Constants signs;
    double least;
};

struct Iterate {  // V + cut is Z minus the multipliers of Z ≥ 0
    Matrix pairs, ends, squares;
    Vector corner;
    Matrix cut;
    Inequalities kinds[3];  // triangles, pentagons and heptagons
    Vector penalty;
    Matrix U;
};

// dsyevd of LAPACK and dsyrk of BLAS.
using EigenSolver = void (*)(
    char *, char *, int *, double *, int *, double *, double *, int *, int *, int *, int *);
using RankUpdate = void (*)(
    char *, char *, int *, int *, double *, double *, int *, double *, double *, int *);

struct Lapack {
    EigenSolver dsyevd;
    RankUpdate dsyrk;
};

// Restrict G to the subspace orthogonal to the orthonormal rows of `lines`, in place.
void restrict_to_lines(Matrix G, ConstantMatrix lines, Lent &lent) {
    Memory<double> g(lent, G.count);
    for (Index k = 0; k < lines.count; ++k) {
        const Constants a = lines[k];
        multiply(G, a, g);
        const double height = dot(a, g);
        for (Index i = 0; i < G.count; ++i)
            for (Index j = 0; j < G.count; ++j)
                G[i][j] += a[i] * (height * a[j] - g[j]) - g[i] * a[j];
    }
}

struct Residuals {  // squares of them
    double primal, dual;
};

// One entry of V after a step, from Z - shift = max(value + shift, 0) = z before it.
double relax(double value, double lifted, double z) {
    return OVER_RELAXATION * lifted + (1.0 - OVER_RELAXATION) * z + value - z;
}

// The ends and squares of one variable, whose moments are 1, d_i and d_i².
void update_single(
    const Model &model, const Iterate &iterate, Index i, double one, double di, double dii,
    Residuals &residuals) {
    const Vector ends = iterate.ends[i], squares = iterate.squares[i];
    const double omega = model.omega;
    for (Index q = 0; q < 2; ++q) {
        const double lifted = 0.5 * (one + (q == 0 ? 1.0 : -1.0) * di);
        const double before = larger(ends[q], 0.0);
        ends[q] = relax(ends[q], lifted, before);
        const double after = larger(ends[q], 0.0);
        residuals.primal += 2.0 * omega * square(lifted - after);
        residuals.dual += 2.0 * omega * square(after - before);
    }
    for (Index q = 0; q < 3; ++q) {
        const double sign = q != 1 ? 1.0 : -1.0, weight = q != 1 ? 1.0 : 2.0;
        const double lifted = 0.25 * (one + 2.0 * (1.0 - static_cast<double>(q)) * di + sign * dii);
        if (q == 1 && model.binary[i]) {
            squares[1] += OVER_RELAXATION * lifted;
            residuals.primal += 2.0 * square(lifted);
            continue;
        }
        const double before = larger(squares[q], 0.0);
        squares[q] = relax(squares[q], lifted, before);
        const double after = larger(squares[q], 0.0);
        residuals.primal += weight * square(lifted - after);
        residuals.dual += weight * square(after - before);
    }
}

// V = WUWᵀ, over-relaxed, plus the scaled multipliers; returns the coordinate 1·1 of WUWᵀ.
double update(const Model &model, const Iterate &iterate, Residuals &residuals) {
    const Index n = iterate.ends.count;
    const ConstantMatrix U = iterate.U;
    const double theta2 = model.omega + 0.5 * static_cast<double>(n);
    const double one = U[0][0] / theta2, scale = sqrt(2.0 / theta2);
    residuals = {model.omega * model.omega * square(one - 1.0), 0.0};
    Index p = 0;
    for (Index i = 0; i < n; ++i) {
        const double di = scale * U[0][i + 1], dii = 2.0 * U[i + 1][i + 1];
        update_single(model, iterate, i, one, di, dii, residuals);
        for (Index j = 0; j < i; ++j, ++p) {
            const double dj = scale * U[0][j + 1], dij = 2.0 * U[i + 1][j + 1];
            const Vector pair = iterate.pairs[p], cut = iterate.cut[p];
            for (Index q = 0; q < 4; ++q) {
                const double si = q < 2 ? 1.0 : -1.0, sj = q % 2 == 0 ? 1.0 : -1.0;
                const double lifted = 0.25 * (one + si * di + sj * dj + si * sj * dij);
                const double before = larger(pair[q] + cut[q], 0.0);
                pair[q] = relax(pair[q], lifted, before);
                const double after = larger(pair[q] + cut[q], 0.0);
                residuals.primal += 2.0 * square(lifted - after);
                residuals.dual += 2.0 * square(after - before);
            }
        }
    }
    return one;
}

// One pass of coordinate ascent over the multipliers of some inequalities.
void sweep(const Iterate &iterate, const Inequalities &inequalities) {
    const Vector v = iterate.pairs.flat(), shift = iterate.cut.flat();
    const Vector multipliers = inequalities.multipliers;
    const Constants signs = inequalities.signs;
    for (Index t = 0; t < multipliers.size; ++t) {
        const Places places = inequalities.places[t];
        double value = -inequalities.least;
        for (Index q = 0; q < signs.size; ++q)
            value += signs[q] * larger(v[places[q]] + shift[places[q]], 0.0);
        const double now = larger(multipliers[t] - value / static_cast<double>(signs.size), 0.0);
        const double change = now - multipliers[t];
        if (change == 0.0) continue;
        multipliers[t] = now;
        for (Index q = 0; q < signs.size; ++q) shift[places[q]] += signs[q] * change;
    }
}

// Divide what is negative, a scaled multiplier, by a factor.
double rescaled(double value, double factor) {
    return larger(value, 0.0) + smaller(value, 0.0) / factor;
}

// Multiply the penalty and divide the scaled multipliers by the same factor.
void rescale(const Model &model, const Iterate &iterate, double factor) {
    iterate.penalty[0] *= factor;
    iterate.corner[0] = 1.0 + (iterate.corner[0] - 1.0) / factor;
    const Vector v = iterate.pairs.flat(), shift = iterate.cut.flat();
    for (Index p = 0; p < v.size; ++p) {
        const double z = larger(v[p] + shift[p], 0.0);
        v[p] = z + (v[p] - z) / factor;
        shift[p] /= factor;
    }
    for (Index i = 0; i < iterate.ends.count; ++i) {
        const Vector ends = iterate.ends[i], squares = iterate.squares[i];
        for (Index q = 0; q < 2; ++q) ends[q] = rescaled(ends[q], factor);
        for (Index q = 0; q < 3; ++q) {
            const bool is_multiplier = q == 1 && model.binary[i];
            squares[q] = is_multiplier ? squares[q] / factor : rescaled(squares[q], factor);
        }
    }
    for (const Inequalities &inequalities : iterate.kinds)
        for (Index t = 0; t < inequalities.multipliers.size; ++t)
            inequalities.multipliers[t] /= factor;
}

// Row i(i-1)/2 + j of the pairs: the products of the literals of i with those of j, i > j.
Constants products(Constants Z, Index i, Index j) {
    const Index first = 4 * (i * (i - 1) / 2 + j);
    return Z.part(first, first + 4);
}

// By how much four triangle inequalities p(1 - q) + qr - pr ≥ 0 of literals of i > j > k are
// violated: those of x only, of s_i, of s_j, and of s_k.
struct Violations {
    double of[4];
    double most() const { return larger(larger(of[0], of[1]), larger(of[2], of[3])); }
};

Violations violations_of(Constants ik, Constants ij, Constants jk) {
    return {{
        ik[0] - ij[1] - jk[0],
        ik[2] - ij[3] - jk[0],
        ik[0] - ij[0] - jk[2],
        ik[1] - ij[1] - jk[1],
    }};
}

// Move the inequalities that are violated by more to the front; returns how many these are.
Index keep_above(Table<Index> literals, Vector found, double least) {
    Index kept = 0;
    for (Index t = 0; t < found.size; ++t) {
        if (found[t] <= least) continue;
        for (Index q = 0; q < 3; ++q) literals[kept][q] = literals[t][q];
        found[kept++] = found[t];
    }
    return kept;
}

// Literals of different variables, with values ±d, whose products of two are to sum to little.
struct LiteralSet {
    ConstantMatrix D;
    Vector sums, open;  // Σ ±D over the literals for each variable; 0 for their own variables, or 1
    Index size;
    Index members[MAX_LITERALS];
    double signs[MAX_LITERALS];

    void add(Index member, double factor) {
        const Constants row = D[member];
        for (Index q = 0; q < sums.size; ++q) sums[q] += factor * row[q];
    }

    void append(Index member, double sign) {
        members[size] = member;
        signs[size++] = sign;
        open[member] = 0.0;
        add(member, sign);
    }

    void remove(Index place) {
        const Index member = members[place];
        const double sign = signs[place];
        members[place] = members[--size];
        signs[place] = signs[size];
        open[member] = 1.0;
        add(member, -sign);
    }

    // Append the literal that adds the least.
    void grow() {
        Index best = 0;
        while (open[best] == 0.0) ++best;  // there is a variable that the set does not have
        for (Index q = best + 1; q < sums.size; ++q)
            if (open[q] * fabs(sums[q]) > open[best] * fabs(sums[best])) best = q;
        append(best, sums[best] > 0.0 ? -1.0 : 1.0);
    }

    // The most that a literal can subtract in place of one of the set.
    double most_in_place_of(Index place) const {
        const Constants row = D[members[place]];
        const double sign = signs[place];
        double most = fabs(sums[members[place]] - sign * row[members[place]]);
#pragma omp simd reduction(max : most)
        for (Index q = 0; q < sums.size; ++q)
            most = larger(open[q] * fabs(sums[q] - sign * row[q]), most);
        return most;
    }

    // Exchange the literal that gains most by that, for the best one; false if none gains anything.
    bool exchange() {
        double gain = MIN_GAIN;
        Index best = -1;
        for (Index a = 0; a < size; ++a) {
            const Index i = members[a];
            const double found = signs[a] * sums[i] - D[i][i] + most_in_place_of(a);
            if (found <= gain) continue;
            gain = found;
            best = a;
        }
        if (best < 0) return false;
        remove(best);
        grow();
        return true;
    }

    // The sum of the products of two.
    double sum() const {
        double total = 0.0;
        for (Index a = 1; a < size; ++a)
            for (Index b = 0; b < a; ++b) total += signs[a] * signs[b] * D[members[a]][members[b]];
        return total;
    }

    // The literals, ascending, the first of them of x and not of s.
    //
    // The complements of all give the same inequality.
    void write(Indices target) const {
        for (Index a = 0; a < size; ++a) {
            const Index literal = 2 * members[a] + (signs[a] < 0.0);
            Index q = a;
            for (; q > 0 && target[q - 1] > literal; --q) target[q] = target[q - 1];
            target[q] = literal;
        }
        const Index odd = target[0] % 2;
        for (Index q = 0; q < size; ++q) target[q] ^= odd;
    }
};

}  // namespace

SHOWN(BALANCE_PERIOD)
SHOWN(MAX_LITERALS)
SHOWN(MAX_ORDER)
SHOWN(NOT_FINITE)

LAYOUT(Model, AT(cost), AT(lines), AT(binary), AT(omega), AT(balance))
LAYOUT(Inequalities, AT(multipliers), AT(places), AT(signs), AT(least))
LAYOUT(
    Iterate,
    AT(pairs), AT(ends), AT(squares), AT(corner), AT(cut), AT(kinds), AT(penalty), AT(U))
LAYOUT(Lapack, AT(dsyevd), AT(dsyrk))

// G = WᵀZW for the parts of a symmetric Z.
EXPORT void relaxation_spread(
    ConstantMatrix pairs, ConstantMatrix ends, ConstantMatrix squares, double corner, double omega,
    Matrix G) {
    const Index n = ends.count;
    const double theta2 = omega + 0.5 * static_cast<double>(n), scale = sqrt(2.0 / theta2);
    double first = omega * omega * corner;
    fill(G.flat(), 0.0);
    Index p = 0;
    for (Index i = 0; i < n; ++i) {
        const Constants square = squares[i], end = ends[i];
        double slope = 0.5 * omega * (end[0] - end[1]) + 0.25 * (square[0] - square[2]);
        first += omega * (end[0] + end[1]);
        first += 0.25 * (square[0] + 2.0 * square[1] + square[2]);
        G[i + 1][i + 1] = 0.5 * (square[0] - 2.0 * square[1] + square[2]);
        for (Index j = 0; j < i; ++j, ++p) {
            const Constants pair = pairs[p];
            const double xx = pair[0], xs = pair[1], sx = pair[2], ss = pair[3];
            first += 0.5 * (xx + xs + sx + ss);
            slope += 0.25 * (xx + xs - sx - ss);
            G[0][j + 1] += 0.25 * (xx - xs + sx - ss);
            G[i + 1][j + 1] = 0.5 * (xx - xs - sx + ss);
            G[j + 1][i + 1] = G[i + 1][j + 1];
        }
        G[0][i + 1] += slope;
    }
    G[0][0] = first / theta2;
    for (Index i = 1; i <= n; ++i) {
        G[0][i] *= scale;
        G[i][0] = G[0][i];
    }
}

// G = Wᵀ(2Z - V)W - L/σ on the face, whose projection is the next U; Z = max(V + cut, 0).
EXPORT void relaxation_gather(const Model &model, const Iterate &iterate, Matrix G, Lent lent) {
    const Index n = iterate.ends.count, count = iterate.pairs.count;
    Memory<double> memory(lent, 4 * count + 5 * n);
    const Matrix pairs{memory.data, count, 4}, ends{pairs.data + 4 * count, n, 2};
    const Matrix squares{ends.data + 2 * n, n, 3};
    const Vector v = iterate.pairs.flat(), cut = iterate.cut.flat();
    for (Index p = 0; p < v.size; ++p)
        pairs.flat()[p] = 2.0 * larger(v[p] + cut[p], 0.0) - v[p];
    for (Index i = 0; i < n; ++i) {
        for (Index q = 0; q < 2; ++q) ends[i][q] = fabs(iterate.ends[i][q]);
        for (Index q = 0; q < 3; ++q) squares[i][q] = fabs(iterate.squares[i][q]);
        if (model.binary[i]) squares[i][1] = -iterate.squares[i][1];
    }
    relaxation_spread(pairs, ends, squares, 2.0 - iterate.corner[0], model.omega, G);
    const Constants cost = model.cost.flat();
    for (Index p = 0; p < cost.size; ++p) G.flat()[p] -= cost[p] / iterate.penalty[0];
    restrict_to_lines(G, model.lines, lent);
}

// U = the projection of G on the positive semidefinite matrices; 0, or why there is none.
EXPORT Index relaxation_project(ConstantMatrix G, Matrix U, Lapack lapack, Lent lent) {
    if (!is_finite(G.flat())) return NOT_FINITE;
    const Index order = G.count;
    int n = static_cast<int>(order), info = 0;
    int size = 1 + 6 * n + 2 * n * n, places_size = 3 + 5 * n;
    char with_vectors = 'V', lower = 'L', not_transposed = 'N';
    Memory<double> memory(lent, order * order), values(lent, order), work(lent, size);
    Memory<int> places(lent, places_size);
    copy(G.flat(), memory);
    lapack.dsyevd(
        &with_vectors, &lower, &n, memory.data, &n, values.data, work.data, &size, places.data,
        &places_size, &info);
    if (info != 0) return info;
    Index negative = 0;
    while (negative < order && values[negative] <= 0.0) ++negative;
    // The eigenvectors of the rarer sign, in the rows, times the roots of the eigenvalues.
    const bool few = order - negative <= negative;
    const Index first = few ? negative : 0, last = few ? order : negative;
    const Matrix vectors{memory.data, order, order};
    for (Index k = first; k < last; ++k) {
        const double root = sqrt(fabs(values[k]));
        for (Index i = 0; i < order; ++i) vectors[k][i] *= root;
    }
    if (few)
        fill(U.flat(), 0.0);
    else
        copy(G.flat(), U.flat());
    if (first < last) {
        int rank = static_cast<int>(last - first);
        double one = 1.0;
        lapack.dsyrk(
            &lower, &not_transposed, &n, &rank, &one, vectors[first].data, &n, &one, U.data, &n);
    }
    // What LAPACK calls the lower triangle of columns is the upper one of rows.
    for (Index i = 0; i < order; ++i)
        for (Index j = 0; j < i; ++j) U[i][j] = U[j][i];
    return 0;
}

// Z and the multipliers from U; adds to the residuals, relative to the sizes of Z and L.
EXPORT void relaxation_scatter(const Model &model, const Iterate &iterate, Vector residuals) {
    Residuals found;
    const double one = update(model, iterate, found);
    iterate.corner[0] += OVER_RELAXATION * (one - 1.0);
    for (Index k = 0; k < SWEEPS_PER_ITERATION; ++k)
        for (const Inequalities &inequalities : iterate.kinds) sweep(iterate, inequalities);
    residuals[0] += sqrt(found.primal) / (1.0 + static_cast<double>(iterate.ends.count));
    residuals[1] += iterate.penalty[0] * sqrt(found.dual);
}

// Change the penalty σ by a factor if the residuals so far are out of balance, and reset these.
//
// In balance the primal residual is `balance` times the dual one.
EXPORT void relaxation_rebalance(
    const Model &model, const Iterate &iterate, double change, Vector residuals) {
    const double primal = residuals[0], dual = model.balance * residuals[1];
    if (primal > MAX_IMBALANCE * dual)
        rescale(model, iterate, change);
    else if (dual > MAX_IMBALANCE * primal)
        rescale(model, iterate, 1.0 / change);
    fill(residuals, 0.0);
}

// Iterations of the alternating direction method of multipliers, in place.
EXPORT Index relaxation_advance(
    const Model &model, const Iterate &iterate, double change, Index iterations, Lapack lapack,
    Lent lent) {
    const Index order = iterate.U.count;
    Memory<double> memory(lent, order * order), residuals(lent, 2, 0.0);
    const Matrix G{memory.data, order, order};
    for (Index k = 1; k <= iterations; ++k) {
        relaxation_gather(model, iterate, G, lent);
        const Index failure = relaxation_project(G, iterate.U, lapack, lent);
        if (failure != 0) return failure;
        relaxation_scatter(model, iterate, residuals);
        if (k % BALANCE_PERIOD == 0) relaxation_rebalance(model, iterate, change, residuals);
    }
    return 0;
}

// The violated triangle inequalities of flat pairs Z ≥ 0; returns how many there are.
//
// When `found` is full, `least` is doubled and those below it are dropped.
EXPORT Index most_violated_triangles(
    Constants Z, Index n, double least, Table<Index> literals, Vector found) {
    Index count = 0;
    for (Index i = 2; i < n; ++i)
        for (Index j = 1; j < i; ++j)
            for (Index k = 0; k < j; ++k) {
                const Violations all =
                    violations_of(products(Z, i, k), products(Z, i, j), products(Z, j, k));
                if (all.most() <= least) continue;
                for (Index form = 0; form < 4; ++form) {
                    const double value = all.of[form];
                    if (value <= least) continue;
                    if (count == found.size) {
                        least *= 2.0;
                        count = keep_above(literals, found, least);
                        if (count == found.size || value <= least) continue;
                    }
                    const Indices mine = literals[count];
                    mine[0] = 2 * i + (form == 1);
                    mine[1] = 2 * j + (form == 2);
                    mine[2] = 2 * k + (form == 3);
                    found[count++] = value;
                }
            }
    return count;
}

// The violated inequalities of an odd number of literals to which some sets of literals lead.
//
// Each set grows by the literals that violate most; then literals are exchanged, one at a time.
EXPORT Index violated_odd_cliques(
    ConstantMatrix D, Table<const Index> sets, double least, Table<Index> found, Vector violations,
    Lent lent) {
    Memory<double> sums(lent, D.count), open(lent, D.count);
    const Index wanted = found.columns;
    Index count = 0;
    for (Index t = 0; t < sets.count; ++t) {
        fill(sums, 0.0);
        fill(open, 1.0);
        LiteralSet set{D, sums, open, 0, {}, {}};
        for (Index q = 0; q < sets.columns; ++q)
            set.append(sets[t][q] / 2, sets[t][q] % 2 ? -1.0 : 1.0);
        while (set.size < wanted) set.grow();
        for (Index k = 0; k < MAX_EXCHANGES && set.exchange(); ++k) {
        }
        const double violation = -0.5 * static_cast<double>(wanted - 1) - set.sum();
        if (violation <= least) continue;
        set.write(found[count]);
        violations[count++] = violation;
    }
    return count;
}
