"""Compiled loops of iterated local search by random exchanges of weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from indefinite_opt.foundation import assign, compiled
from indefinite_opt.quadratic.local.descent._loops import (
    INFINITE_STEP,
    SECOND_ORDER,
    DescentPoint,
    _draw,
    _max_step,
    _move,
    pair_steps,
)

SIMILAR_CHANCE = 0.5
"""Probability that a perturbation exchanges weights among points similar to one point instead of
among all: the two kinds find different optima."""

MOST_DRAWS, POINTS_PER_PAIR = 8.0, 4.0
"""A point similar to a given one is the most similar of a random point and this many others: of d
draws it is one of the nearest n/d or so. There are fewer draws if that would leave fewer than this
many points per pair."""

WHOLE_CHANCE = 0.7
"""Probability that a pair is exchanged as far as its bounds allow, where a concave pair has its
minima; otherwise it moves a random share of that way."""

PAIR_DRAWS = 20
"""Draws in search of a pair of one group that can move; if all fail, the perturbation has one pair
less."""

PERTURBATION_STEPS = 100
"""Most steps after a perturbation per point, so that one slow descent does not use up the time of
the others."""

MIN_FALL = 1e-10
"""Least decrease of the objective after a useful perturbation, as a share of it: less may be
rounding."""


class PerturbationPlan(NamedTuple):
    """How many perturbations there are, and how large."""

    perturbations: int
    pairs: int  # most pairs that one perturbation exchanges
    slack: float  # largest share by which F at a point that is perturbed may exceed the lowest
    violation: float  # at which the descent after a perturbation ends
    steps: int  # of all descents together
    work: float


@compiled(forceinline=True)
def _similar(row, tries, members, state):
    """The member t with the largest |K_ct| among some random ones; `row` is row c of K."""
    found = members[int(_draw(state) * members.size)]
    for _ in range(tries - 1):
        other = members[int(_draw(state) * members.size)]
        found = other if abs(row[other]) > abs(row[found]) else found
    return found


@compiled()
def _exchange_at_random(pairs, order, starts, program, point, state):
    """Exchange the weights of random pairs, among all points or those similar to one.

    A step is a random share of what both weights of a pair allow. A weight that moves alone goes a
    share of the way to its other bound.
    """
    alpha, n = point.alpha, point.v.size
    row, tries = program.K[int(_draw(state) * n)], 1
    if _draw(state) < SIMILAR_CHANCE:
        tries += int(min(MOST_DRAWS, n / (POINTS_PER_PAIR * pairs)))
    for _ in range(pairs):
        share = 1.0 if _draw(state) < WHOLE_CHANCE else _draw(state)
        for _ in range(PAIR_DRAWS):
            i = _similar(row, tries, order, state)
            low, high, g = program.lower[i], program.upper[i], program.group[i]
            if g == program.groups:
                way = (low if alpha[i] > 0.5 * (low + high) else high) - alpha[i]
                if abs(way) < INFINITE_STEP:
                    _move(i, share * program.y[i] * way, program, point)
                break
            j = _similar(row, tries, order[starts[g] : starts[g + 1]], state)
            step = share * min(
                _max_step(program.y[i], alpha[i], low, high),
                _max_step(-program.y[j], alpha[j], program.lower[j], program.upper[j]),
            )
            if i != j and 0.0 < step < INFINITE_STEP:
                _move(i, step, program, point)
                _move(j, -step, program, point)
                break


@compiled()
def perturb(program, point, linear, order, starts, plan, state):
    """Iterated local search from a stationary point, with all rows of K and finite bounds.

    Random pairs of weights are exchanged, among all points or among those similar to one; pair
    steps lead to a stationary point again, which replaces the old one if it is lower. The next
    perturbation starts there, too, if it is not much higher.

    Parameters
    ----------
    linear : (n,) array
        c, to compute F.
    order, starts : (n,) and (groups + 2,) arrays
        All indices sorted by groups, and where each group begins and the last one ends.
    state : (1,) uint64 array
        State of the random numbers; changed in place.

    Returns
    -------
    perturbations, steps and work
    """
    n, value, work, steps = point.v.size, _value(program, point, linear), 0.0, 0
    trial = DescentPoint(point.alpha.copy(), point.v.copy())
    current = DescentPoint(point.alpha.copy(), point.v.copy())
    for made in range(plan.perturbations):
        if work >= plan.work or steps >= plan.steps:
            return made, steps, work
        # From 1 to the most, uniformly distributed on a logarithmic scale.
        pairs = int(np.exp(_draw(state) * np.log(plan.pairs + 0.999)))
        _exchange_at_random(pairs, order, starts, program, trial, state)
        most = min(PERTURBATION_STEPS * n, plan.steps - steps)
        outcome = pair_steps(program, trial, SECOND_ORDER, plan.violation, most, np.inf)
        steps += outcome[2]
        work += outcome[4] + 2.0 * pairs * n
        reached = _value(program, trial, linear)
        slack = plan.slack * _draw(state) if plan.slack > 0.0 else -MIN_FALL
        if reached < value + slack * abs(value):
            _keep(trial, current)
        if reached < value - MIN_FALL * abs(value):
            value = reached
            _keep(trial, point)
        _keep(current, trial)
    return plan.perturbations, steps, work


@compiled()
def _keep(source, target):
    assign(target.alpha, source.alpha)
    assign(target.v, source.v)


@compiled()
def _value(program, point, linear):
    """F = ½αᵀ(∇F + c)."""
    total = 0.0
    for t in range(point.v.size):
        total += point.alpha[t] * (linear[t] - program.y[t] * point.v[t])
    return 0.5 * total
