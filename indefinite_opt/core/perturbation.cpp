// Iterated local search by random exchanges of weights.

#include "descent.h"
#include "draws.h"

struct Plan {  // see `PerturbationPlan` in `perturbation.py`
    Index perturbations, pairs;
    double slack, violation;
    Index steps;
    double work;
};

struct Perturbed {
    Index perturbations, steps;
    double work;
};

namespace {

// Probability that a perturbation exchanges weights among points similar to one point instead of
// among all: the two kinds find different optima.
constexpr double SIMILAR_CHANCE = 0.5;

// A point similar to a given one is the most similar of a random point and this many others: of d
// draws it is one of the nearest n/d or so. There are fewer draws if that would leave fewer than
// this many points per pair.
constexpr double MOST_DRAWS = 8.0, POINTS_PER_PAIR = 4.0;

// Probability that a pair is exchanged as far as its bounds allow, where a concave pair has its
// minima; otherwise it moves a random share of that way.
constexpr double WHOLE_CHANCE = 0.7;

// Draws in search of a pair of one group that can move; if all fail, the perturbation has one pair
// less.
constexpr Index PAIR_DRAWS = 20;

// Most steps after a perturbation per point, so that one slow descent does not use up the time of
// the others.
constexpr Index PERTURBATION_STEPS = 100;

// Least decrease of the objective after a useful perturbation, as a share of it: less may be
// rounding.
constexpr double MIN_FALL = 1e-10;

// Binary digits of an exponent that `power` reads.
constexpr Index DIGITS = 40;

// base^share for a share in [0, 1), by square roots, which every machine rounds alike.
double power(double base, double share) {
    double root = base, result = 1.0;
    for (Index k = 0; k < DIGITS; ++k) {
        root = sqrt(root);
        share *= 2.0;
        if (share < 1.0) continue;
        share -= 1.0;
        result *= root;
    }
    return result;
}

// y_tα_t += step, at most to the bound, and v with it.
void move(Index t, double step, const Program &p, const Point &point) {
    const double y = p.y[t], old = point.alpha[t];
    point.alpha[t] = moved(old, y * step, p.lower[t], p.upper[t]);
    add_multiple(point.v, -(p.h * y * (point.alpha[t] - old)), p.K[t]);
}

// The member t with the largest |K_ct| among some random ones; `row` is row c of K.
Index similar(Constants row, Index tries, Places members, Draws draw) {
    Index found = members[draw.below(members.size)];
    for (Index k = 1; k < tries; ++k) {
        const Index other = members[draw.below(members.size)];
        if (fabs(row[other]) > fabs(row[found])) found = other;
    }
    return found;
}

// Exchange the weights of random pairs, among all points or those similar to one.
//
// A step is a random share of what both weights of a pair allow. A weight that moves alone goes a
// share of the way to its other bound.
void exchange_at_random(
    Index pairs, Places order, Places starts, const Program &p, const Point &point, Draws draw) {
    const Vector alpha = point.alpha;
    const Index n = point.v.size;
    const Constants row = p.K[draw.below(n)];
    Index tries = 1;
    if (draw() < SIMILAR_CHANCE) {
        const double share = static_cast<double>(n) / (POINTS_PER_PAIR * static_cast<double>(pairs));
        tries += static_cast<Index>(smaller(MOST_DRAWS, share));
    }
    for (Index pair = 0; pair < pairs; ++pair) {
        const double share = draw() < WHOLE_CHANCE ? 1.0 : draw();
        for (Index k = 0; k < PAIR_DRAWS; ++k) {
            const Index i = similar(row, tries, order, draw), g = p.group[i];
            const double low = p.lower[i], high = p.upper[i];
            if (g == p.groups) {
                const double way = (alpha[i] > 0.5 * (low + high) ? low : high) - alpha[i];
                if (fabs(way) < INFINITE_STEP) move(i, share * p.y[i] * way, p, point);
                break;
            }
            const Index j = similar(row, tries, order.part(starts[g], starts[g + 1]), draw);
            const double step = share * smaller(
                max_step(p.y[i], alpha[i], low, high),
                max_step(-p.y[j], alpha[j], p.lower[j], p.upper[j]));
            if (i != j && 0.0 < step && step < INFINITE_STEP) {
                move(i, step, p, point);
                move(j, -step, p, point);
                break;
            }
        }
    }
}

void keep(const Point &source, const Point &target) {
    copy(source.alpha, target.alpha);
    copy(source.v, target.v);
}

// F = ½αᵀ(∇F + c).
double value_of(const Program &p, const Point &point, Constants linear) {
    double total = 0.0;
    for (Index t = 0; t < point.v.size; ++t)
        total += point.alpha[t] * (linear[t] - p.y[t] * point.v[t]);
    return 0.5 * total;
}

// See `perturb` in `perturbation.py`.
Perturbed perturb(
    const Program &p, const Point &point, Constants linear, Places order, Places starts,
    const Plan &plan, Draws draw, Lent lent) {
    const Index n = point.v.size;
    double value = value_of(p, point, linear), work = 0.0;
    Index steps = 0;
    Memory<double> alpha(lent, n), v(lent, n), current_alpha(lent, n), current_v(lent, n);
    const Point trial{alpha, v}, current{current_alpha, current_v};
    keep(point, trial);
    keep(point, current);
    for (Index made = 0; made < plan.perturbations; ++made) {
        if (work >= plan.work || steps >= plan.steps) return {made, steps, work};
        // From 1 to the most, uniformly distributed on a logarithmic scale.
        const auto pairs = static_cast<Index>(power(static_cast<double>(plan.pairs) + 0.999, draw()));
        exchange_at_random(pairs, order, starts, p, trial, draw);
        const Index left = plan.steps - steps, bound = PERTURBATION_STEPS * n;
        const Outcome outcome = pair_steps(
            p, trial, SECOND_ORDER, plan.violation, bound < left ? bound : left, INF, lent);
        steps += outcome.steps;
        work += outcome.work + 2.0 * static_cast<double>(pairs) * static_cast<double>(n);
        const double reached = value_of(p, trial, linear);
        const double slack = plan.slack > 0.0 ? plan.slack * draw() : -MIN_FALL;
        if (reached < value + slack * fabs(value)) keep(trial, current);
        if (reached < value - MIN_FALL * fabs(value)) {
            value = reached;
            keep(trial, point);
        }
        keep(current, trial);
    }
    return {plan.perturbations, steps, work};
}

}  // namespace

LAYOUT(Plan, AT(perturbations), AT(pairs), AT(slack), AT(violation), AT(steps), AT(work))
LAYOUT(Perturbed, AT(perturbations), AT(steps), AT(work))

EXPORT void perturbation_perturb(
    const Program *program, const Point *point, Constants linear, Places order, Places starts,
    const Plan *plan, View<uint64_t> state, Perturbed *found, Lent lent) {
    *found = perturb(*program, *point, linear, order, starts, *plan, {state.data}, lent);
}
