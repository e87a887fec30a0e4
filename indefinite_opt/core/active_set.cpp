// Steps of an inertia-controlling active-set method for quadratic programs,
//
//     min ½xᵀPx + qᵀx  s.t.  low ≤ (x, Rx) ≤ high.
//
// The working set W holds constraints that stay at their ends. Q = [Z Y] is orthogonal, WZ = 0 and
// WY = T is upper triangular, newest constraint first; LLᵀ = ZᵀPZ is positive definite at all times
// (Gill, Murray, Saunders & Wright 1991). Where ZᵀPZ would not be, constraints at values that are
// none of their ends, or columns of Q, are kept in W as temporary ones until they can be released.
//
// Constraint c < n is the variable c, and constraint n + k is row k.

#include "draws.h"
#include "views.h"

namespace {

enum Outcome : Index { RUNNING, STATIONARY, UNBOUNDED, STALLED };

// Where a constraint of W is held: at an end, at both, at another value, or at another value along
// a direction in which nothing changes.
enum Side : Index { LOWER = -1, EQUAL, UPPER, TEMPORARY, FLAT };

// In place of a constraint: a column of Q that is held.
constexpr Index ARTIFICIAL = -1;

// Places in `counts`: nz, the dimension of Z; steps; steps in a row of length zero; Newton steps in
// a row on one working set; steps since the factors were computed; moves in a row that left the
// objective as it was.
enum Count : Index { FREE, STEPS, IDLE, REFINED, SINCE, FLATS, COUNTS };

// Distance from an end, as a share of the terms of the constraint, up to which it counts as there:
// what some thousand steps lose by rounding.
constexpr double END_SHARE = 4096.0 * EPS;

// Share of a normal outside the span of the others below which it counts as dependent.
constexpr double DEPENDENT_SHARE = 1e-11;

// Slope of a constraint along a direction, as a share of the product of their lengths, up to which
// it counts as parallel to it.
constexpr double PARALLEL_SHARE = DEPENDENT_SHARE;

// Curvature along a unit vector, as a share of n times the largest entry of P, up to which it may
// be rounding.
constexpr double CURVATURE_SHARE = 64.0 * EPS;

// Entry of the gradient, as a share of √n times its terms, up to which it may be rounding.
constexpr double GRADIENT_SHARE = 32.0 * EPS;

// The same for a multiplier times the length of its normal, as it passes a triangular solution.
constexpr double MULTIPLIER_SHARE = 2048.0 * EPS;

// Newton steps in a row on one working set; one is exact but for rounding.
constexpr Index MAX_REFINEMENTS = 4;

// Steps of length zero after which choices are made at random, by which cycling ends with
// probability 1.
constexpr Index IDLE_STEPS = 8;

// Most steps for which gradient and rows are updated before they are computed anew; they are
// computed as well after each Newton step to a minimum and before a point counts as stationary.
constexpr Index UPDATES = 16;

// What squares of numbers lose by underflow is rounding if their sum is at least the first of
// these, and up to the second one nothing overflows.
constexpr double LEAST_SQUARES = 0x1p-900, MOST_SQUARES = 0x1p1000;

// The unit, or its inverse, in which all other numbers have squares within these limits.
constexpr double UNIT = 0x1p600;

struct QuadraticViews {  // see `Quadratic` in `active_set.py`
    ConstantMatrix P, R;
    Constants q, low, high, norms;
    double largest;
};

struct StateViews {  // a point, its working set and the factors; see `State` there
    Vector x, values, gradient;
    Matrix basis, T, L;
    Indices slot, side, held, tried;
    Vector slack, ray, multiplier, extent;
    Indices counts;
    View<uint64_t> draws;
};

using Program = const QuadraticViews &;
using State = const StateViews &;

// The largest magnitude, 0 for none.
double largest(Constants v) {
    double most = 0.0;
#pragma omp simd reduction(max : most)
    for (Index t = 0; t < v.size; ++t) most = larger(most, fabs(v[t]));
    return most;
}

double length_of(Constants v) { return sqrt(dot(v, v)); }

void negate(Vector v) {
    for (Index t = 0; t < v.size; ++t) v[t] = -v[t];
}

// The first rows of a matrix, or those from one on.
ConstantMatrix head(ConstantMatrix matrix, Index rows) {
    return {matrix.data, rows, matrix.columns};
}

ConstantMatrix tail(ConstantMatrix matrix, Index first) {
    return {matrix.data + first * matrix.columns, matrix.count - first, matrix.columns};
}

// The end of a constraint at which it is held or, with its slope, to which it goes.
double end_of(Program program, Index c, bool upper) {
    return upper ? program.high[c] : program.low[c];
}

// The slopes of variables and rows along a direction, (n + m,).
void write_slopes(Program program, Constants d, Vector slopes) {
    copy(d, slopes.part(0, d.size));
    multiply(program.R, d, slopes.part(d.size, slopes.size));
}

// c = a/length and s = b/length for the length of (a, b).
struct Rotation {
    double c, s, length;
};

// `hypot` of C libraries differs in the last bit, and the root of the squares has their underflow
// and overflow, but for numbers that are scaled by a power of two.
Rotation rotation(double a, double b) {
    double unit = 1.0, squares = a * a + b * b;
    if (!(LEAST_SQUARES <= squares && squares <= MOST_SQUARES)) {
        if (a == 0.0 && b == 0.0) return {1.0, 0.0, 0.0};
        unit = squares > 1.0 ? 1.0 / UNIT : UNIT;
        a *= unit, b *= unit;
        squares = a * a + b * b;
    }
    const double length = sqrt(squares);
    return {a / length, b / length, length / unit};
}

// Vectors p and q become c·p - s·q and s·p + c·q.
void rotate(Vector first, Vector second, Rotation by) {
    CHECK(first.size == second.size);
#pragma omp simd
    for (Index k = 0; k < first.size; ++k) {
        const double p = first[k], q = second[k];
        first[k] = by.c * p - by.s * q;
        second[k] = by.s * p + by.c * q;
    }
}

// The same for columns i and j of a matrix, in rows first to last - 1.
void rotate_columns(Matrix matrix, Index i, Index j, Rotation by, Index first, Index last) {
    CHECK(0 <= first && last <= matrix.count);
    double *row = matrix.data + first * matrix.columns;
    for (Index k = first; k < last; ++k, row += matrix.columns) {
        const double p = row[i], q = row[j];
        row[i] = by.c * p - by.s * q;
        row[j] = by.s * p + by.c * q;
    }
}

// v = Qᵀa for the normal a of a constraint.
void write_normal(Program program, State state, Index c, Vector v) {
    const Index n = v.size;
    if (c >= n) {
        multiply(state.basis, program.R[c - n], v);
        return;
    }
    for (Index k = 0; k < n; ++k) v[k] = state.basis[k][c];
}

// Row `at` of T becomes that of constraint c, whose Qᵀa is v with zeros before `at`.
void hold(State state, Index at, Index c, Index side, Constants v) {
    copy(v.part(at, v.size), state.T[at].part(at, v.size));
    state.slot[at] = c, state.side[at] = side;
    if (c != ARTIFICIAL) state.held[c] = 1;
}

// Add a constraint to W, with v = Qᵀa: Z loses the column to which it is rotated.
void add(State state, Index c, Index side, Vector v) {
    const Index nz = state.counts[FREE];
    const Matrix L = state.L;
    for (Index j = 0; j < nz - 1; ++j) {
        if (v[j] == 0.0) continue;
        const Rotation by = rotation(v[j + 1], v[j]);
        v[j] = 0.0, v[j + 1] = by.length;
        rotate(state.basis[j], state.basis[j + 1], by);
        rotate(L[j].part(0, j + 2), L[j + 1].part(0, j + 2), by);
        const Rotation fill = rotation(L[j][j], L[j][j + 1]);
        if (fill.length > 0.0) rotate_columns(L, j + 1, j, fill, j, nz);
        L[j][j + 1] = 0.0;
    }
    state.counts[FREE] = nz - 1;
    hold(state, nz - 1, c, side, v);
}

// Take row `at` of T out of W; column nz of Q is then orthogonal to all others in W.
void remove(State state, Index at) {
    const Index n = state.x.size, nz = state.counts[FREE];
    const Matrix T = state.T;
    if (state.slot[at] != ARTIFICIAL) state.held[state.slot[at]] = 0;
    for (Index t = at; t > nz; --t) {
        state.slot[t] = state.slot[t - 1], state.side[t] = state.side[t - 1];
        copy(T[t - 1].part(t - 1, n), T[t].part(t - 1, n));
    }
    state.slot[nz] = ARTIFICIAL, state.side[nz] = TEMPORARY;
    for (Index t = at; t > nz; --t) {
        const Rotation by = rotation(T[t][t], T[t][t - 1]);
        rotate_columns(T, t - 1, t, by, nz + 1, t + 1);
        T[t][t - 1] = 0.0;
        rotate(state.basis[t - 1], state.basis[t], by);
    }
}

// v becomes L⁻¹v.
void solve(ConstantMatrix L, Vector v) {
    for (Index i = 0; i < v.size; ++i) v[i] = (v[i] - dot(L[i].part(0, i), v.part(0, i))) / L[i][i];
}

// v becomes L⁻ᵀv.
void solve_transposed(ConstantMatrix L, Vector v) {
    for (Index i = v.size - 1; i >= 0; --i) {
        v[i] /= L[i][i];
        add_multiple(v.part(0, i), -v[i], L[i].part(0, i));
    }
}

// Row nz of L for column nz of Q; returns what is left of its curvature.
double border(Program program, State state, Lent &lent) {
    const Index n = state.x.size, nz = state.counts[FREE];
    const Vector z = state.basis[nz], row = state.L[nz], w = row.part(0, nz);
    Memory<double> curved(lent, n);
    multiply(program.P, z, curved);
    multiply(head(state.basis, nz), curved, w);
    solve(state.L, w);
    const double rest = dot(z, curved) - dot(w, w);
    row[nz] = rest > 0.0 ? sqrt(rest) : 0.0;
    return rest;
}

double curvature_floor(Program program) {
    return CURVATURE_SHARE * static_cast<double>(program.q.size) * program.largest;
}

// Move x to its bounds where rounding has taken it off, and compute the rows there.
void keep_bounds(Program program, State state) {
    const Vector x = state.x;
    for (Index i = 0; i < x.size; ++i)
        x[i] = smaller(larger(x[i], program.low[i]), program.high[i]);
    multiply(program.R, x, state.values.part(x.size, state.values.size));
}

// Move x onto W where rounding has taken it off.
void keep_working_set(Program program, State state, Lent &lent) {
    const Index n = state.x.size, nz = state.counts[FREE];
    const Vector x = state.x;
    const Matrix T = state.T;
    Memory<double> off(lent, n, 0.0);
    for (Index s = nz; s < n; ++s) {
        const Index c = state.slot[s];
        if (c == ARTIFICIAL || state.side[s] >= TEMPORARY) continue;
        const double value = c < n ? x[c] : dot(program.R[c - n], x);
        off[s] = end_of(program, c, state.side[s] == UPPER) - value;
    }
    if (largest(off) > 0.0) {
        for (Index s = n - 1; s >= nz; --s)
            off[s] = (off[s] - dot(T[s].part(s + 1, n), off.part(s + 1, n))) / T[s][s];
        Memory<double> way(lent, n);
        multiply_transposed(tail(state.basis, nz), off.part(nz, n), way);
        add_multiple(x, 1.0, way);
    }
    for (Index s = nz; s < n; ++s) {
        const Index c = state.slot[s];
        if (0 <= c && c < n && state.side[s] < TEMPORARY)
            x[c] = end_of(program, c, state.side[s] == UPPER);
    }
}

// Move x onto W, and compute the rows and the gradient there; returns the size of its terms.
double refresh(Program program, State state, Lent &lent) {
    const Index n = state.x.size;
    const Vector x = state.x;
    if (state.counts[FREE] < n) keep_working_set(program, state, lent);
    keep_bounds(program, state);
    double most = state.extent[0] * program.largest;
    for (Index i = 0; i < n; ++i) {
        const Constants row = program.P[i];
        const double terms = sum(n, [=](Index t) { return fabs(row[t] * x[t]); });
        state.gradient[i] = dot(row, x) + program.q[i];
        most = larger(most, terms + fabs(program.q[i]));
    }
    return most;
}

// Distances from the ends that count as none.
//
// An end far beyond the typical one, which is 1, and the way so far must not hide the other end.
void set_slacks(Program program, State state) {
    const Vector x = state.x;
    const Index n = x.size;
    const double extent = state.extent[0] = larger(state.extent[0], largest(x));
    const double most = larger(extent, 1.0);
    for (Index c = 0; c < state.slack.size; ++c) {
        double size = 0.0;
        if (c < n) {
            size = fabs(x[c]);
        } else {
            const Constants row = program.R[c - n];
            size = sum(n, [=](Index t) { return fabs(row[t] * x[t]); });
        }
        const double ends[] = {fabs(program.low[c]), fabs(program.high[c])};
        for (const double end : ends)
            if (end < INF) size = larger(size, smaller(end, most));
        state.slack[c] = larger(END_SHARE * size, EPS * extent);
    }
}

// Which constraints are to be in W, and where they are held; those that are not are beyond FLAT.
void write_sides(Program program, State state, bool fresh, Indices side) {
    fill<Index>(side, FLAT + 1);
    for (Index s = state.counts[FREE]; s < state.slot.size; ++s)
        if (!fresh && state.slot[s] != ARTIFICIAL) side[state.slot[s]] = state.side[s];
    for (Index c = 0; c < side.size; ++c) {
        const double value = state.values[c];
        if (program.low[c] == program.high[c])
            side[c] = EQUAL;
        else if (fresh && value <= program.low[c] + state.slack[c])
            side[c] = LOWER;
        else if (fresh && value >= program.high[c] - state.slack[c])
            side[c] = UPPER;
    }
}

// Compute the factors of W, or with `fresh` those of all constraints at their ends at x.
//
// Dependent constraints are left out. Columns of Q along which the curvature is not positive,
// given those before them, are held by artificial constraints.
void factorise(Program program, State state, bool fresh, Lent &lent) {
    const Index n = state.x.size, sides = state.values.size;
    const Matrix basis = state.basis;
    keep_bounds(program, state);
    set_slacks(program, state);
    Memory<Index> side(lent, sides);
    write_sides(program, state, fresh, side);
    fill<Index>(state.held, 0);
    fill(basis.flat(), 0.0);
    fill(state.L.flat(), 0.0);
    for (Index i = 0; i < n; ++i) basis[i][i] = 1.0;
    state.counts[FREE] = n, state.counts[SINCE] = 0;
    if (fresh) state.counts[IDLE] = state.counts[REFINED] = 0;
    Memory<double> v(lent, n);
    // Bounds come first because they cost no rotations; equalities come before other rows.
    for (Index turn = 0; turn < 3; ++turn) {
        for (Index c = 0; c < sides; ++c) {
            const Index mine = c < n ? 0 : (side[c] == EQUAL ? 1 : 2);
            if (side[c] > FLAT || mine != turn || state.counts[FREE] == 0) continue;
            write_normal(program, state, c, v);
            if (length_of(v.part(0, state.counts[FREE])) > DEPENDENT_SHARE * program.norms[c])
                add(state, c, side[c], v);
        }
    }
    Index total = state.counts[FREE];
    state.counts[FREE] = 0;
    while (state.counts[FREE] < total) {
        const Index nz = state.counts[FREE];
        if (border(program, state, lent) > curvature_floor(program)) {
            state.counts[FREE] = nz + 1;
            continue;
        }
        --total;
        for (Index k = 0; k < n; ++k) {
            const double kept = basis[nz][k];
            basis[nz][k] = basis[total][k], basis[total][k] = kept;
        }
        fill(v, 0.0);
        v[total] = 1.0;
        hold(state, total, ARTIFICIAL, TEMPORARY, v);
    }
}

// A step along a direction, and the constraint that ends it or -1.
struct Step {
    double length;
    Index met;
};

// The longest step along a direction up to a limit.
//
// Among the constraints that are met within their slacks the one that it meets most squarely is
// chosen (Harris 1973), and at random when steps have been idle.
Step blocking(Program program, State state, Constants slopes, double limit, Lent &lent) {
    const double length = length_of(slopes.part(0, state.x.size));
    const bool at_random = state.counts[IDLE] > IDLE_STEPS;
    const Draws draw{state.draws.data};
    double reach = limit;
    Memory<double> ways(lent, slopes.size, INF);
    for (Index c = 0; c < slopes.size; ++c) {
        const double slope = slopes[c];
        if (state.held[c] || !(fabs(slope) > PARALLEL_SHARE * program.norms[c] * length)) continue;
        ways[c] = larger((end_of(program, c, slope > 0.0) - state.values[c]) / slope, 0.0);
        reach = smaller(reach, ways[c] + state.slack[c] / fabs(slope));
    }
    Step found{limit, -1};
    double best = 0.0;
    for (Index c = 0; c < slopes.size; ++c) {
        if (!(ways[c] <= reach && ways[c] < limit)) continue;
        double squareness = fabs(slopes[c]) / program.norms[c];
        if (at_random) squareness *= square(draw());
        if (squareness > best) best = squareness, found = {ways[c], c};
    }
    return found;
}

// Take a step along a direction, to the end of the constraint that it meets.
void move(Program program, State state, Constants slopes, Step step, Lent &lent) {
    const Index n = state.x.size;
    const Constants d = slopes.part(0, n);
    if (step.length > 0.0) {
        add_multiple(state.values, step.length, slopes);
        Memory<double> curved(lent, n);
        multiply(program.P, d, curved);
        add_multiple(state.gradient, step.length, curved);
        fill<Index>(state.tried, 0);
        state.extent[0] = larger(state.extent[0], largest(state.x));
        for (Index s = state.counts[FREE]; s < n; ++s)
            if (state.side[s] == FLAT) state.side[s] = TEMPORARY;
    }
    if (0 <= step.met && step.met < n)
        state.x[step.met] = end_of(program, step.met, d[step.met] > 0.0);
    const bool idle = largest(d) * step.length <= EPS * largest(state.x);
    state.counts[IDLE] = idle ? state.counts[IDLE] + 1 : 0;
}

// Variables in W do not move, not even by rounding.
void keep_still(State state, Vector d) {
    for (Index s = state.counts[FREE]; s < d.size; ++s)
        if (0 <= state.slot[s] && state.slot[s] < d.size) d[state.slot[s]] = 0.0;
}

// Go to the minimum on W, or to the first constraint on the way, which joins W.
void newton_step(Program program, State state, Constants reduced, Lent &lent) {
    const Index n = state.x.size, nz = reduced.size;
    Memory<double> d(lent, n), slopes(lent, state.values.size);
    {
        Memory<double> p(lent, nz);
        copy(reduced, p);
        negate(p);
        solve(state.L, p);
        solve_transposed(state.L, p);
        multiply_transposed(head(state.basis, nz), p, d);
    }
    keep_still(state, d);
    write_slopes(program, d, slopes);
    const Step step = blocking(program, state, slopes, 1.0, lent);
    move(program, state, slopes, step, lent);
    ++state.counts[REFINED];
    if (step.met < 0) return;
    Memory<double> v(lent, n);
    write_normal(program, state, step.met, v);
    add(state, step.met, slopes[step.met] > 0.0 ? UPPER : LOWER, v);
    state.counts[REFINED] = 0;
}

// λ with Wᵀλ = the gradient, by forward substitution.
void write_multipliers(State state) {
    const Index n = state.x.size, nz = state.counts[FREE];
    const Vector rest = state.multiplier;
    multiply(tail(state.basis, nz), state.gradient, rest.part(nz, n));
    for (Index s = nz; s < n; ++s) {
        rest[s] /= state.T[s][s];
        add_multiple(rest.part(s + 1, n), -rest[s], state.T[s].part(s + 1, n));
    }
}

// A row of T to release, -1 for none, and whether its multiplier says that F falls.
struct Choice {
    Index row;
    bool falls;
};

// Temporary constraints go first, then the constraint of the worst sign, then those along which
// only curvature can lead down, each once at this point.
Choice choose(Program program, State state, double allowed) {
    const bool at_random = state.counts[IDLE] > IDLE_STEPS;
    const Draws draw{state.draws.data};
    double best = 0.0;
    Index found = -1, kind = 0;
    for (Index s = state.counts[FREE]; s < state.x.size; ++s) {
        const Index side = state.side[s], c = state.slot[s];
        if (side == EQUAL || side == FLAT) continue;
        double value = state.multiplier[s];
        if (side == LOWER) value = -value;
        if (side == TEMPORARY) value = fabs(value);
        if (c != ARTIFICIAL) value *= program.norms[c];
        Index mine;
        if (value > allowed)
            mine = side == TEMPORARY ? 4 : 3;
        else if (side == TEMPORARY)
            mine = 2, value = 1.0;
        else if (value > -allowed && state.tried[c] == 0)
            mine = 1, value = 1.0;
        else
            continue;
        if (at_random) value *= draw();
        if (mine > kind || (mine == kind && value > best)) best = value, found = s, kind = mine;
    }
    return {found, kind >= 3};
}

// A constraint that was taken out of W: which, where it was held, and its Qᵀa.
struct Released {
    Index c, side;
    Vector v;
};

// After a step along d off a constraint to another one, or to none.
void replace(Program program, State state, Released off, Constants slopes, Step step, Lent &lent) {
    const Index nz = state.counts[FREE], c = step.met;
    bool moved = true;
    if (off.c != ARTIFICIAL) moved = step.length * fabs(slopes[off.c]) > state.slack[off.c];
    const Index now = moved ? TEMPORARY : off.side;
    if (c < 0) {
        hold(state, nz, off.c, now, off.v);
        return;
    }
    Memory<double> met(lent, off.v.size);
    write_normal(program, state, c, met);
    const Index end = slopes[c] > 0.0 ? UPPER : LOWER;
    const Constants part = met.part(0, nz);
    if (nz == 0 || dot(part, part) <= square(DEPENDENT_SHARE * program.norms[c])) {
        hold(state, nz, c, end, met);
        return;
    }
    hold(state, nz, off.c, now, off.v);
    add(state, c, end, met);
}

// d = column nz of Q, less its part that is conjugate to Z: the minimum on W moves along d.
void write_direction(State state, Vector d, Lent &lent) {
    const Index n = d.size, nz = state.counts[FREE];
    copy(state.basis[nz], d);
    Memory<double> r(lent, nz), part(lent, n);
    copy(state.L[nz].part(0, nz), r);
    solve_transposed(state.L, r);
    multiply_transposed(head(state.basis, nz), r, part);
    add_multiple(d, -1.0, part);
    keep_still(state, d);
}

// Take a constraint out of W and go down where that leads down; returns how it went.
//
// Where the curvature along the new direction is positive the constraint is gone, unless its
// multiplier is zero. Else F falls as far as the first constraint on the way, which joins W, and
// the released one is kept as a temporary one at its new value if both are independent.
Outcome release(Program program, State state, Choice choice, Lent &lent) {
    const Index n = state.x.size, nz = state.counts[FREE];
    const bool falls = choice.falls, temporary = state.side[choice.row] == TEMPORARY;
    Memory<double> v(lent, n, 0.0);
    const Released off{state.slot[choice.row], state.side[choice.row], v};
    remove(state, choice.row);
    const double rest = border(program, state, lent), floor = curvature_floor(program);
    if (rest > floor && (falls || temporary)) {
        state.counts[FREE] = nz + 1, state.counts[REFINED] = 0;
        return RUNNING;
    }
    Memory<double> slopes(lent, state.values.size), opposite(lent, state.values.size);
    const Vector d = slopes.part(0, n);
    write_direction(state, d, lent);
    double slope = dot(state.gradient, d), curvature;
    {
        Memory<double> curved(lent, n);
        multiply(program.P, d, curved);
        curvature = dot(d, curved);
    }
    const double noise = floor * dot(d, d);
    v[nz] = 1.0;
    if (off.c != ARTIFICIAL) write_normal(program, state, off.c, v);
    bool forward;
    if (falls)
        forward = slope < 0.0;
    else if (temporary)
        forward = slope <= 0.0;
    else
        forward = (v[nz] > 0.0) == (off.side == LOWER);
    if (!forward) {
        negate(d);
        slope = -slope;
    }
    multiply(program.R, d, slopes.part(n, slopes.size));
    const double limit = falls && curvature > noise ? -slope / curvature : INF;
    const bool flat = !falls && fabs(rest) <= floor && temporary;
    if (falls || rest < -floor || (flat && state.counts[FLATS] <= 2 * n)) {
        Step step = blocking(program, state, slopes, limit, lent);
        if (temporary && !falls) {
            copy(Constants(slopes), opposite);
            negate(opposite);
            const Step other = blocking(program, state, opposite, limit, lent);
            const bool curved_down = rest < -floor;
            if (curved_down ? other.length > step.length
                            : step.length == INF || step.length == 0.0) {
                copy(Constants(opposite), slopes);
                slope = -slope;
                step = other;
            }
        }
        if (step.length == INF && !flat) {
            const double size = largest(d);
            for (Index i = 0; i < n; ++i) {
                const double part = d[i] / size;
                state.ray[i] = fabs(part) > PARALLEL_SHARE ? part : 0.0;
            }
            hold(state, nz, off.c, off.side, v);
            return UNBOUNDED;
        }
        const bool ends = step.length < INF;
        const double change = step.length * (slope + 0.5 * step.length * curvature);
        if (falls || (flat && ends) || (ends && change < 0.0)) {
            move(program, state, slopes, step, lent);
            state.counts[FLATS] = flat ? state.counts[FLATS] + 1 : 0;
            state.counts[REFINED] = 0;
            replace(program, state, off, slopes, step, lent);
            return RUNNING;
        }
    }
    hold(state, nz, off.c, temporary ? Index(FLAT) : off.side, v);
    if (!temporary) state.tried[off.c] = 1;
    return RUNNING;
}

// Some steps of the method, between which the factors are only updated.
Outcome advance(Program program, State state, Index steps, Lent &lent) {
    const Index n = state.x.size;
    const Indices counts = state.counts;
    const Index most_idle = 50 * state.values.size + 1000;
    double terms = 0.0;
    Index stale = UPDATES;
    bool confirming = false;
    for (Index step = 0; step < steps; ++step) {
        ++counts[STEPS];
        ++counts[SINCE];
        if (stale >= UPDATES || confirming || counts[REFINED] > 0) {
            terms = refresh(program, state, lent);
            stale = 0, confirming = false;
        }
        const Index nz = counts[FREE];
        const double share = sqrt(static_cast<double>(n)) * terms;
        if (nz > 0 && counts[REFINED] < MAX_REFINEMENTS) {
            Memory<double> reduced(lent, nz);
            multiply(head(state.basis, nz), state.gradient, reduced);
            if (largest(reduced) > GRADIENT_SHARE * share) {
                newton_step(program, state, reduced, lent);
                ++stale;
                continue;
            }
        }
        if (counts[IDLE] > most_idle) return STALLED;
        write_multipliers(state);
        const Choice choice = choose(program, state, MULTIPLIER_SHARE * share);
        if (choice.row < 0) {
            if (stale == 0) return STATIONARY;
            confirming = true;
            continue;
        }
        const Outcome outcome = release(program, state, choice, lent);
        ++stale;
        if (outcome != RUNNING) return outcome;
    }
    return RUNNING;
}

}  // namespace

// Constants by names that no other theme has.
#define SHOWN_HERE(name) EXPORT const double constant_ACTIVE_SET_##name = double(name);

SHOWN_HERE(RUNNING) SHOWN_HERE(STATIONARY) SHOWN_HERE(UNBOUNDED) SHOWN_HERE(STALLED)
SHOWN_HERE(LOWER) SHOWN_HERE(EQUAL) SHOWN_HERE(UPPER) SHOWN_HERE(TEMPORARY) SHOWN_HERE(ARTIFICIAL)
SHOWN_HERE(FREE) SHOWN_HERE(STEPS) SHOWN_HERE(SINCE) SHOWN_HERE(COUNTS)
SHOWN_HERE(PARALLEL_SHARE) SHOWN_HERE(CURVATURE_SHARE) SHOWN_HERE(MULTIPLIER_SHARE)

LAYOUT(QuadraticViews, AT(P), AT(R), AT(q), AT(low), AT(high), AT(norms), AT(largest))

LAYOUT(
    StateViews,
    AT(x), AT(values), AT(gradient), AT(basis), AT(T), AT(L), AT(slot), AT(side), AT(held),
    AT(tried), AT(slack), AT(ray), AT(multiplier), AT(extent), AT(counts), AT(draws))

EXPORT void active_set_factorise(
    const QuadraticViews *program, const StateViews *state, bool fresh, Lent lent) {
    factorise(*program, *state, fresh, lent);
}

EXPORT Index active_set_advance(
    const QuadraticViews *program, const StateViews *state, Index steps, Lent lent) {
    const Index outcome = advance(*program, *state, steps, lent);
    return is_finite(state->x) && is_finite(state->gradient) ? outcome : static_cast<Index>(STALLED);
}
