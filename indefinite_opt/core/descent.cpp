// Loops of sequential minimal optimization.
//
// The gradient enters as v_t = -y_t ∇F_t. Moving weight δ ≥ 0 along a pair (i, j), which means
// y_iα_i += δ and y_jα_j -= δ, changes F by -(v_i - v_j)δ + ½aδ² with a = h(K_ii + K_jj - 2K_ij).
//
// Both members of a pair belong to one group, that is, to one equality constraint Σ y_iα_i = b_g. A
// weight that is in no constraint moves alone: it is written as the pair (i, i), and its slope is
// v_i.
//
// Minima and maxima are vectorised, which their order does not change.

#include "descent.h"

namespace {

// LIBSVM's τ, in place of a curvature that is not positive, in units of the kernel.
constexpr double LIBSVM_CURVATURE = 1e-12;

// Work of a step in entries of K read: passes over all points, with one constraint on all weights or
// otherwise, and a constant part.
constexpr double PASSES = 3.0, GROUPED_PASSES = 8.0, STEP_WORK = 200.0;

// Rounding of v per unit of changed weight, in units of eps · max|K|: that of the two products, of
// their sum and of the changes themselves.
constexpr double ROUNDINGS_PER_CHANGE = 4.0;

// A block is left when its own violation has fallen to this share: further gains would depend on v
// at the other points, which is out of date by then.
constexpr double LEAVE_SHARE = 0.3;

// A block is solved to this share of the tolerance of all points, so that the changes at other
// points do not select the same block again.
constexpr double BLOCK_TOLERANCE_SHARE = 0.5;

// Most steps inside a block per point of it; by then v at the other points is out of date.
constexpr Index STEPS_PER_MEMBER = 20;

// How often the range of violations is halved in search of the worst ones, most of which a block
// needs.
constexpr Index BISECTIONS = 7;

// Work of choosing a block, in entries of K read per point.
constexpr double BLOCK_PASSES = 10.0;

void subtract_row(Vector v, double amount, Constants row) { add_multiple(v, -amount, row); }

// v -= Σ_k amounts[k] · K[places[k]], four rows at a time.
void spread(Rows K, Places places, Constants amounts, Vector v) {
    const Index whole = places.size - places.size % 4;
    for (Index k = 0; k < whole; k += 4) {
        const Constants r0 = K[places[k]], r1 = K[places[k + 1]];
        const Constants r2 = K[places[k + 2]], r3 = K[places[k + 3]];
        const double c0 = amounts[k], c1 = amounts[k + 1], c2 = amounts[k + 2], c3 = amounts[k + 3];
#pragma omp simd
        for (Index t = 0; t < v.size; ++t)
            v[t] -= (c0 * r0[t] + c1 * r1[t]) + (c2 * r2[t] + c3 * r3[t]);
    }
    for (Index k = whole; k < places.size; ++k) subtract_row(v, amounts[k], K[places[k]]);
}

template <class Row>
void gather(Row whole, Places members, Vector part) {
    for (Index t = 0; t < members.size; ++t) part[t] = whole[members[t]];
}

// Row i of K, of some members only at these, read when it is first needed.
Constants row_of(const Program &program, Index i) {
    const Places members = program.members;
    if (members.size == 0) return program.K[i];
    Index &slot = program.slots[i];
    if (slot < 0) {
        slot = program.slots[members.size]++;
        const Vector part = program.part[slot];
        if (program.singles.count)
            gather(program.singles[members[i]], members, part);
        else
            gather(program.K[members[i]], members, part);
    }
    return program.part[slot];
}

// Whether there is memory for the rows of a step, of which at most two have not been read.
bool has_room(const Program &program) {
    const Index m = program.members.size, rows = program.part.count;
    return rows >= m || program.slots[m] + 2 <= rows;
}

// δ of Lin & Lin (27): to the minimum of a convex pair, or to the bound on a concave one.
double step_length(double most, double slope, double curvature) {
    return curvature > 0.0 ? smaller(most, slope / curvature) : most;
}

struct Ways {  // 0 where y_tα_t may rise or fall, -inf where it may not
    Vector rises, falls;

    void mark(Index t, const Program &p, Vector alpha) const {
        const double low = p.lower[t], high = p.upper[t];
        rises[t] = max_step(p.y[t], alpha[t], low, high) > 0.0 ? 0.0 : -INF;
        falls[t] = max_step(-p.y[t], alpha[t], low, high) > 0.0 ? 0.0 : -INF;
    }
};

struct Extremes {  // m and M of Lin & Lin (21): the largest v that may rise, the least that may fall
    double top, bottom;
};

Extremes extremes(Vector v, Ways ways) {
    double top = -INF, bottom = INF;
#pragma omp simd reduction(max : top) reduction(min : bottom)
    for (Index t = 0; t < v.size; ++t) {
        top = larger(top, v[t] + ways.rises[t]);
        bottom = smaller(bottom, v[t] - ways.falls[t]);
    }
    return {top, bottom};
}

// Subtract multiples of two rows from v; m and M afterwards.
Extremes update(Vector v, double a, Constants row_a, double b, Constants row_b, Ways ways) {
    double top = -INF, bottom = INF;
#pragma omp simd reduction(max : top) reduction(min : bottom)
    for (Index t = 0; t < v.size; ++t) {
        const double now = v[t] - (a * row_a[t] + b * row_b[t]);
        v[t] = now;
        top = larger(top, now + ways.rises[t]);
        bottom = smaller(bottom, now - ways.falls[t]);
    }
    return {top, bottom};
}

// Twice the decrease of F by the unclipped step of (i, t), for every t, times scale².
//
// The scale keeps squares in range. A nonpositive curvature is replaced by `min_curvature`, so that
// concave pairs come before convex ones, ordered by their slopes. Returns the largest.
double pair_gains(
    Vector gain, Vector v, Vector falls, Constants K_i, const Program &p, double v_i, double K_ii,
    double scale) {
    const double h = p.h, least = p.min_curvature;
    const Constants diagonal = p.diagonal;
    double best = 0.0;
#pragma omp simd reduction(max : best)
    for (Index t = 0; t < v.size; ++t) {
        const double slope = scale * larger(v_i - v[t] + falls[t], 0.0);
        const double curvature = larger(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), least);
        gain[t] = slope * slope / curvature;
        best = larger(best, gain[t]);
    }
    return best;
}

// The first index of a value, or the last index of all if it is not there.
Index place(Vector x, double value) {
    Index t = 0;
    while (t < x.size - 1 && x[t] != value) ++t;
    return t;
}

struct Singles {  // largest gain and largest slope of weights that move alone
    double gain, slope;
};

// Decrease of F by the step of every weight that moves alone, and |v| of those that may move.
//
// A step ends at a bound; a weight without positive curvature moves to its bound.
Singles single_gains(Vector gain, Vector slopes, const Program &p, const Point &point) {
    const Vector alpha = point.alpha, v = point.v;
    double best = 0.0, worst = 0.0;
#pragma omp simd reduction(max : best) reduction(max : worst)
    for (Index t = 0; t < v.size; ++t) {
        const double most = v[t] * p.y[t] > 0.0 ? p.upper[t] - alpha[t] : alpha[t] - p.lower[t];
        const double slope = most > 0.0 && p.group[t] == p.groups ? fabs(v[t]) : 0.0;
        const double curvature = p.h * p.diagonal[t];
        const double newton = curvature > 0.0 ? slope / curvature : INFINITE_STEP;
        const double length = smaller(smaller(most, newton), INFINITE_STEP);
        slopes[t] = slope;
        gain[t] = slope > 0.0 ? length * (slope - 0.5 * curvature * length) : -1.0;
        worst = larger(worst, slope);
        best = larger(best, gain[t]);
    }
    return {best, worst};
}

struct Ends {  // m and M of each constraint, and where they are; 0 for weights that move alone
    Memory<double> tops, bottoms;
    Memory<Index> highest, lowest;

    Ends(Lent &lent, Index groups)
        : tops(lent, groups + 1), bottoms(lent, groups + 1), highest(lent, groups + 1),
          lowest(lent, groups + 1) {}

    void find(const Program &p, Vector v, Ways ways) {
        for (Index g = 0; g <= p.groups; ++g) {
            tops[g] = g < p.groups ? -INF : 0.0;
            bottoms[g] = g < p.groups ? INF : 0.0;
            highest[g] = lowest[g] = 0;
        }
        if (p.groups == 0) return;
        for (Index t = 0; t < v.size; ++t) {
            const Index g = p.group[t];
            if (g == p.groups) continue;
            if (v[t] + ways.rises[t] > tops[g]) tops[g] = v[t], highest[g] = t;
            if (v[t] - ways.falls[t] < bottoms[g]) bottoms[g] = v[t], lowest[g] = t;
        }
    }
};

struct Pair {
    double violation;
    Index i, j, group;
};

// Violation, pair and constraint, among several constraints and weights that move alone.
//
// The pair is that of Lin & Lin (22). If the violation of weights that move alone is largest, the
// one whose step decreases F most is taken.
Pair grouped_pair(
    const Program &p, const Point &point, Ways ways, Vector gain, Vector slopes, Ends &ends) {
    const Singles singles = single_gains(gain, slopes, p, point);
    double worst = singles.slope;
    ends.find(p, point.v, ways);
    Index chosen = -1;
    for (Index g = 0; g < p.groups; ++g)
        if (ends.tops[g] - ends.bottoms[g] > worst) worst = ends.tops[g] - ends.bottoms[g], chosen = g;
    if (chosen >= 0) return {worst, ends.highest[chosen], ends.lowest[chosen], chosen};
    const Index alone = worst > 0.0 ? place(gain, singles.gain) : 0;
    return {worst, alone, alone, p.groups};
}

// The last index t for which an array has a value, which it has.
template <class Entry>
Index last_place(Index n, double value, Entry entry) {
    constexpr Index MANY = 32;
    Index end = n;
    for (; end >= MANY; end -= MANY) {  // without branches as long as it is not found
        Index found = 0;
#pragma omp simd reduction(+ : found)
        for (Index t = end - MANY; t < end; ++t) found += entry(t) == value;
        if (found) break;
    }
    while (end > 1 && entry(end - 1) != value) --end;
    return end - 1;
}

// The pair of LIBSVM for a single equality.
//
// The weight j may fall and has the least v; of those i that may rise and have v_i > v_j the one
// with the largest (v_i - v_j)²/a is taken. The last of equal entries counts, as in LIBSVM with the
// classes in sorting order.
Pair libsvm_pair(const Program &p, Vector v, Ways ways, Vector gain, Extremes extreme) {
    const Index n = v.size;
    if (n == 0) return {0.0, 0, 0, 0};
    const double bottom = extreme.bottom, h = p.h;
    const Vector rises = ways.rises, falls = ways.falls;
    const Constants diagonal = p.diagonal;
    const Index j = last_place(n, bottom, [=](Index t) { return v[t] - falls[t]; });
    const Constants row = row_of(p, j);
    const double K_jj = diagonal[j];
    double best = 0.0;
#pragma omp simd reduction(max : best)
    for (Index t = 0; t < n; ++t) {
        const double difference = larger(v[t] + rises[t] - bottom, 0.0);
        const double curvature = h * (diagonal[t] - 2.0 * row[t] + K_jj);
        gain[t] = difference * difference / larger(curvature, LIBSVM_CURVATURE);
        best = larger(best, gain[t]);
    }
    Index i = 0;
    if (best > 0.0) {
        i = last_place(n, best, [=](Index t) { return gain[t]; });
    } else {  // all gains are too small for a double
        for (Index t = 0; t < n; ++t)
            if (v[t] + rises[t] - bottom > 0.0) i = t;
    }
    return {extreme.top - bottom, i, j, 0};
}

// Add to each penalty by how much v is beyond the other end of its constraint; the largest.
double violations(Vector penalties, Vector v, Vector ends, Places group, double sign) {
    double worst = 0.0;
#pragma omp simd reduction(max : worst)
    for (Index t = 0; t < v.size; ++t) {
        penalties[t] += sign * (v[t] - ends[group[t]]);
        worst = larger(worst, penalties[t]);
    }
    return worst;
}

// A number that at least so many violations exceed, if possible few more.
double threshold(Vector found, double worst, Index wanted) {
    double low = 0.0, high = worst;
    for (Index k = 0; k < BISECTIONS; ++k) {
        const double middle = 0.5 * (low + high);
        Index count = 0;
#pragma omp simd reduction(+ : count)
        for (Index t = 0; t < found.size; ++t) count += found[t] > middle;
        (count >= wanted ? low : high) = middle;
    }
    return low;
}

struct Block {
    Index count;
    double violation;
};

// See `choose_block` in `descent.py`.
Block choose_block(const Program &p, const Point &point, Index offset, Indices members, Lent lent) {
    const Index n = point.v.size, half = members.size / 2 - 1;
    Memory<double> rises(lent, n), falls(lent, n);
    Ends ends(lent, p.groups);
    const Ways ways{rises, falls};
    for (Index t = 0; t < n; ++t) ways.mark(t, p, point.alpha);
    ends.find(p, point.v, ways);
    const double highest_rise = violations(rises, point.v, ends.bottoms, p.group, 1.0);
    const double highest_fall = violations(falls, point.v, ends.tops, p.group, -1.0);
    const double worst = larger(highest_rise, highest_fall);
    if (worst <= 0.0) return {0, 0.0};
    const Index i = highest_rise == worst ? place(rises, worst) : -1;
    Index j = -1;
    for (Index t = 0; t < n && j < 0; ++t)
        if (falls[t] == worst && (i < 0 || p.group[t] == p.group[i])) j = t;
    const double least_rise = threshold(rises, worst, half);
    const double least_fall = threshold(falls, worst, half);
    Index count = 0, rising = 0, falling = 0, t = offset;
    for (Index k = 0; k < n; ++k) {
        const bool up = rises[t] > least_rise && rising < half;
        const bool down = falls[t] > least_fall && falling < half;
        if (up || down || t == i || t == j) {
            members[count++] = t;
            rising += up, falling += down;
        }
        t = t + 1 < n ? t + 1 : 0;
    }
    return {count, worst};
}

template <class T>
struct Gathered : Memory<T> {  // source[chosen]
    Gathered(Lent &lent, View<const T> source, Places chosen) : Memory<T>(lent, chosen.size) {
        for (Index p = 0; p < chosen.size; ++p) this->data[p] = source[chosen[p]];
    }
};

struct BlockOutcome {
    Outcome outcome;
    Index offset, blocks;
};

// Steps on one block, after which v is updated on all points.
void block_step(
    const Program &p, const Point &point, Places chosen, double goal, Index most, Outcome &all,
    Lent lent) {
    const Index count = chosen.size, n = point.v.size;
    const Gathered<double> diagonal(lent, p.diagonal, chosen), y(lent, p.y, chosen);
    const Gathered<double> lower(lent, p.lower, chosen), upper(lent, p.upper, chosen);
    const Gathered<double> alpha(lent, point.alpha, chosen), v(lent, point.v, chosen);
    const Gathered<Index> group(lent, p.group, chosen);
    Memory<double> entries(lent, count * count);
    Memory<Index> slots(lent, count + 1, -1);
    slots[count] = 0;
    const Program part{
        p.K, diagonal, p.h, p.min_curvature, y, group, p.groups, p.tied, lower, upper, chosen,
        {entries.data, count, count}, slots, {}};
    const Outcome outcome = pair_steps(part, {alpha, v}, SECOND_ORDER, goal, most, INF, lent);
    Memory<Index> changed(lent, count);
    Memory<double> amounts(lent, count);
    Index moves = 0;
    double total = 0.0;
    for (Index k = 0; k < count; ++k) {
        const Index t = chosen[k];
        const double change = p.h * y[k] * (alpha[k] - point.alpha[t]);
        if (change == 0.0) continue;
        changed[moves] = t, amounts[moves] = change, ++moves;
        total += fabs(change);
        point.alpha[t] = alpha[k];
    }
    spread(p.K, changed.part(0, moves), amounts.part(0, moves), point.v);
    all.state = outcome.state == UNBOUNDED ? UNBOUNDED : moves == 0 ? STALLED : RUNNING;
    all.steps += outcome.steps;
    all.decrease += outcome.decrease;
    const double read = static_cast<double>(moves);
    all.work += outcome.work + static_cast<double>(n) * (read + BLOCK_PASSES);
    all.work += static_cast<double>(count) * read;
    // Each product is rounded once, and then once in each of the sums.
    all.rounding += total * (read + 2.0);
}

// See `block_steps` in `descent.py`.
BlockOutcome block_steps(
    const Program &p, const Point &point, double tolerance, Index size, Index offset, Index most,
    double most_work, Lent lent) {
    const Index n = point.v.size;
    Memory<Index> members(lent, size);
    Outcome all{RUNNING, 0.0, 0, 0.0, 0.0, 0.0};
    Index blocks = 0;
    for (;;) {
        const Block block = choose_block(p, point, offset, members, lent);
        all.violation = block.violation;
        if (block.count == 0 || !(block.violation > tolerance)) all.state = CONVERGED;
        if (all.state != RUNNING || all.steps >= most || all.work >= most_work)
            return {all, offset, blocks};
        const Places chosen = members.part(0, block.count);
        const double goal = larger(BLOCK_TOLERANCE_SHARE * tolerance, LEAVE_SHARE * block.violation);
        const Index left = most - all.steps, bound = STEPS_PER_MEMBER * block.count;
        block_step(p, point, chosen, goal, bound < left ? bound : left, all, lent);
        offset = (chosen[block.count - 1] + 1) % n;
        ++blocks;
    }
}

}  // namespace

Outcome pair_steps(
    const Program &p, const Point &point, Index rule, double tolerance, Index most_steps,
    double most_work, Lent lent) {
    const Vector alpha = point.alpha, v = point.v;
    const Constants y = p.y, lower = p.lower, upper = p.upper, diagonal = p.diagonal;
    const Index n = v.size;
    const double h = p.h;
    double decrease = 0.0, changed = 0.0, violation = INF;
    Memory<double> rises(lent, n), falls(lent, n), gain(lent, n), other(lent, n);
    Ends ends(lent, p.groups);
    const Ways ways{rises, falls};
    for (Index t = 0; t < n; ++t) ways.mark(t, p, alpha);
    Extremes extreme = extremes(v, ways);
    const double cost = (p.tied ? PASSES : GROUPED_PASSES) * static_cast<double>(n) + STEP_WORK;
    const double most = smaller(static_cast<double>(most_steps), ceil(most_work / cost));
    Index state = RUNNING, i = 0, j = 0, chosen = 0, steps = 0;
    while (has_room(p)) {
        if (rule == SECOND_ORDER && p.tied) {
            violation = larger(extreme.top - extreme.bottom, 0.0);
        } else {
            const Pair pair = rule == LIBSVM ? libsvm_pair(p, v, ways, gain, extreme)
                                             : grouped_pair(p, point, ways, gain, other, ends);
            violation = pair.violation, i = pair.i, j = pair.j, chosen = pair.group;
        }
        if (!(violation > tolerance)) state = CONVERGED;
        if (state != RUNNING || static_cast<double>(steps) >= most) break;
        if (rule == SECOND_ORDER && p.tied) {
            i = 0, j = -1;
            while (i < n - 1 && v[i] + rises[i] != extreme.top) ++i;
        }
        const Constants row_i = row_of(p, i);
        if (rule == SECOND_ORDER && i != j) {
            if (!p.tied)
                for (Index t = 0; t < n; ++t) other[t] = p.group[t] == chosen ? falls[t] : -INF;
            const double best = pair_gains(
                gain, v, p.tied ? falls : other, row_i, p, v[i], diagonal[i], 1.0 / violation);
            j = place(gain, best);
        }
        const double old_i = alpha[i], old_j = alpha[j];
        double sign = 1.0, slope, curvature, limit;
        if (i == j) {
            sign = v[i] > 0.0 ? 1.0 : -1.0, slope = fabs(v[i]), curvature = h * diagonal[i];
            limit = max_step(sign * y[i], old_i, lower[i], upper[i]);
        } else {
            slope = v[i] - v[j], curvature = h * (diagonal[i] + diagonal[j] - 2.0 * row_i[j]);
            limit = smaller(
                max_step(y[i], old_i, lower[i], upper[i]),
                max_step(-y[j], old_j, lower[j], upper[j]));
        }
        const double delta = step_length(limit, slope, curvature);
        if (delta >= INFINITE_STEP) {
            state = UNBOUNDED;
            break;
        }
        alpha[i] = moved(old_i, sign * y[i] * delta, lower[i], upper[i]);
        if (i != j) alpha[j] = moved(old_j, -y[j] * delta, lower[j], upper[j]);
        if (delta < limit && (alpha[i] == old_i || alpha[j] == old_j)) {
            // The step is below the rounding of a weight. The other one makes it alone if it has
            // most of the curvature: the slope is then halved at least. Such steps would add up.
            state = STALLED;
            double share = 0.0;
            if (alpha[i] != old_i)
                share = h * (diagonal[i] - row_i[j]);
            else if (alpha[j] != old_j)
                share = h * (diagonal[j] - row_i[j]);
            if (!(0.5 * curvature <= share && share <= 1.5 * curvature)) {
                alpha[i] = old_i, alpha[j] = old_j;
                break;
            }
        }
        const double change_i = h * y[i] * (alpha[i] - old_i);
        const double change_j = i != j ? h * y[j] * (alpha[j] - old_j) : 0.0;
        ways.mark(i, p, alpha);
        ways.mark(j, p, alpha);
        extreme = update(v, change_i, row_i, change_j, row_of(p, j), ways);
        decrease += delta * (slope - 0.5 * curvature * delta);
        changed += fabs(change_i) + fabs(change_j);
        ++steps;
    }
    const double work = static_cast<double>(steps) * cost + static_cast<double>(n);
    return {state, violation, steps, decrease, work, ROUNDINGS_PER_CHANGE * changed};
}

LAYOUT(
    Program,
    AT(K), AT(diagonal), AT(h), AT(min_curvature), AT(y), AT(group), AT(groups), AT(tied),
    AT(lower), AT(upper), AT(members), AT(part), AT(slots), AT(singles))
LAYOUT(Point, AT(alpha), AT(v))
LAYOUT(Outcome, AT(state), AT(violation), AT(steps), AT(decrease), AT(work), AT(rounding))
LAYOUT(BlockOutcome, AT(outcome), AT(offset), AT(blocks))

SHOWN(LEAVE_SHARE)
SHOWN(BLOCK_TOLERANCE_SHARE)
SHOWN(STEPS_PER_MEMBER)
SHOWN(BLOCK_PASSES)
SHOWN(STEP_WORK)

EXPORT void descent_pair_steps(
    const Program *program, const Point *point, Index rule, double tolerance, Index most,
    double most_work, Outcome *found, Lent lent) {
    *found = pair_steps(*program, *point, rule, tolerance, most, most_work, lent);
}

EXPORT Index descent_choose_block(
    const Program *program, const Point *point, Index offset, Indices members, double *violation,
    Lent lent) {
    const Block block = choose_block(*program, *point, offset, members, lent);
    *violation = block.violation;
    return block.count;
}

EXPORT void descent_block_steps(
    const Program *program, const Point *point, double tolerance, Index size, Index offset,
    Index most, double most_work, BlockOutcome *found, Lent lent) {
    *found = block_steps(*program, *point, tolerance, size, offset, most, most_work, lent);
}

EXPORT void descent_spread(Rows K, Places places, Constants amounts, Vector v) {
    spread(K, places, amounts, v);
}

// Lower triangle of NᵀKN on some points; see `reduced_matrix` in `descent.py`.
EXPORT void descent_reduced_matrix(
    Rows K, Places slots, Places columns, Places reference, Matrix matrix) {
    Index k = 0;
    for (Index p = 0; p < columns.size; ++p) {
        const Index a = reference[p];
        if (a == p) continue;
        const Constants row = K[slots[p]], base = K[slots[a > 0 ? a : 0]];
        const Vector out = matrix[k++];
        Index position = 0;
        for (Index r = 0; r <= p; ++r) {
            const Index b = reference[r];
            if (b == r) continue;
            double value = row[columns[r]];
            if (a >= 0) value -= base[columns[r]];
            if (b >= 0) value -= row[columns[b]];
            if (a >= 0 && b >= 0) value += base[columns[b]];
            out[position++] = value;
        }
    }
}
