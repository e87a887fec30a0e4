// Programs of sequential minimal optimization, and the steps that other themes make as well.
#pragma once

#include "views.h"

enum State : Index { RUNNING, CONVERGED, STALLED, UNBOUNDED };
enum Rule : Index { SECOND_ORDER, LIBSVM, FIRST_ORDER };

// A step of at least this length counts as infinite; no program in double precision needs one.
constexpr double INFINITE_STEP = 1e100;

// min ½αᵀHα + cᵀα with H = h · yyᵀ∘K on a box with equality constraints.
struct Program {  // see `PairProgram` in `descent.py`
    Rows K;
    Constants diagonal;
    double h, min_curvature;
    Constants y;
    Places group;
    Index groups, tied;
    Constants lower, upper;
    // Where its weights are in K, or empty if these are all in their order. Then `part` has memory
    // for rows of K[members][:, members], in the order in which they are first read: row i is
    // part[slots[i]], -1 before that, and the last slot is how many there are. Steps end if there is no
    // room for two more.
    Places members;
    Matrix part;
    Indices slots;
    Table<const float> singles;  // K, if its entries are floats, whose rows are read by `members`
};

struct Point {  // weights, and v_t = -y_t ∇F_t there
    Vector alpha, v;
};

struct Outcome {  // of some steps; see `StepOutcome` in `descent.py`
    Index state;
    double violation;
    Index steps;
    double decrease, work, rounding;
};

// How far a weight may rise (way > 0) or fall.
inline double max_step(double way, double alpha, double low, double high) {
    return way > 0.0 ? high - alpha : alpha - low;
}

// alpha + change, exactly at a bound that it reaches.
inline double moved(double alpha, double change, double low, double high) {
    if (change >= high - alpha) return high;
    if (-change >= alpha - low) return low;
    return smaller(larger(alpha + change, low), high);
}

// See `pair_steps` in `descent.py`; `lent` has room for 4 vectors of n and 4 of groups + 1 entries.
Outcome pair_steps(
    const Program &program, const Point &point, Index rule, double tolerance, Index most,
    double most_work, Lent lent);
