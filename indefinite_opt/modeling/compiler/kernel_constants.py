"""Kernels in programs with rows, without a constant whose effect equations fix.

With v = d∘Ux, where eᵀv = aᵀx = t by equations, a constant k in K adds ½hkt² to ½hvᵀKv and hides
digits of all other terms. Such a term is compiled with K - k, or for t = 0 and a linear kernel with
centred points, and ½hkt·aᵀx is added to the linear term. What is left out is known at every point.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    Canonical,
    DiagonalFactor,
    Factor,
    MatrixFactor,
    Operator,
    QuadraticTerm,
)
from indefinite_opt.foundation import EPS, Array, derived
from indefinite_opt.problem import KernelFactor, KernelProblem
from indefinite_opt.quadratic import DenseGram, KernelConstant, Polyhedron

_MAX_ENTRIES = 2_000
"""Most different coefficients of equations that are solved in fractions, in some milliseconds."""

_NEGLIGIBLE = 1e-9
"""Share of the largest weight of an equation below which others are rounding."""

_TINY = 1e-150
"""Size below which squares of coordinates may underflow."""


def without_constants(
    form: Canonical, problem: KernelProblem | None, places: dict[str, slice], body: Polyhedron
) -> tuple[Canonical, tuple[KernelConstant, ...]]:
    """The objective without constants of kernels that equations of `body` fix.

    Kernels are found by reference, and as the arrays K and Q of the problem; without a problem
    none is.
    """
    if problem is None:
        return form, ()
    quadratics, constants = list(form.quadratics), list[KernelConstant]()
    for place, term in enumerate(form.quadratics):
        u, P = _squared(term)
        for k, (multiple, factors) in enumerate(P.terms):
            d, kernel = _kernel(factors, problem)
            if kernel is None or not kernel.constant:
                continue
            # The size is that of `Canonical.arrays`.
            h, U = 2.0 * (term.weight * multiple), u.rows(places, body.n)
            found = _left_out(d, kernel, h, U, body)
            if found is None:
                continue
            own, constant = found
            signs = DiagonalFactor(d)
            changed = multiple, (signs, KernelFactor(own), signs)
            P = Operator(P.shape, (*P.terms[:k], changed, *P.terms[k + 1 :]))
            quadratics[place] = QuadraticTerm(term.weight, u, P)
            constants.append(constant)
    return (replace(form, quadratics=quadratics) if constants else form), tuple(constants)


def _squared(term: QuadraticTerm) -> tuple[Affine, Operator]:
    """u and P of a term uᵀPu; a P without terms for what is not written so."""
    u, v, P = term.u, term.v, term.P
    other = u if v is None else v
    if u.constants.any() or other.constants.any() or u.linear.keys() != other.linear.keys():
        return u, Operator.zero(u.m, u.m)
    if v is None:
        return u, Operator.identity(u.m) if P is None else P
    if len(u.linear) > 1:
        return u, Operator.zero(u.m, u.m)
    ((name, L),) = u.linear.items()
    product: Operator = L.T @ v.linear[name] if P is None else L.T @ P @ v.linear[name]
    n = product.shape[0]
    return Affine(n, {name: Operator.identity(n)}), product


def _kernel(
    factors: tuple[Factor, ...], problem: KernelProblem
) -> tuple[Array, KernelProblem | None]:
    """d and the problem of K, if the factors are diag(d)K diag(d) with entries ±1 of d."""
    ones = np.ones(problem.n)
    match factors:
        case (KernelFactor() as kernel,):
            return np.ones(kernel.problem.n), kernel.problem
        case (DiagonalFactor() as left, KernelFactor() as kernel, DiagonalFactor() as right):
            if left.same(right) and np.all(np.abs(left.d) == 1.0):
                return left.d, kernel.problem
        case (MatrixFactor() as given,) if given.shape == (problem.n,) * 2 and problem.constant:
            for d, K in ((ones, problem.K), (problem.y, problem.Q)):
                if np.array_equal(given.dense(), K):
                    return d, problem
    return ones, None


def _left_out(
    d: Array, kernel: KernelProblem, h: float, U: Array, body: Polyhedron
) -> tuple[KernelProblem, KernelConstant] | None:
    """The kernel to use in ½hvᵀKv, and what that leaves out; None if eᵀv is not fixed.

    Points are centred only where the ranges of variables bound what rounding may change.
    """
    if np.any(np.count_nonzero(U, axis=0) > 1):
        return None  # Sums of their entries may be rounded.
    a = d @ U
    w = _combination(body.A, a)
    if w is None:
        return None
    exact = sum((r * Fraction(b) for r, b in zip(w, body.b.tolist(), strict=True)), Fraction(0))
    t, weights = float(exact), np.array([float(r) for r in w])
    if Fraction(t) != exact:
        return None
    centred, given = None if t else kernel.centred_points(), kernel.features
    points = None if centred is None else centred.features
    if centred is not None and points is not None and given is not None:
        mean = given.mean(axis=0)
        # Products of d coordinates, each of them rounded, are off by less than (d + 4)·eps.
        sizes = np.linalg.norm(points, axis=1) + _TINY
        share = (points.shape[1] + 4.0) * EPS
        doubt = 0.5 * abs(h) * share * _most(sizes @ np.abs(U), body) ** 2
        if math.isfinite(doubt):
            p, c = h * ((d * (points @ mean)) @ U), h * float(mean @ mean)
            return centred, KernelConstant(a, t, weights, p, c, of_points=True, doubt=doubt)
    own, k = _positive(kernel)
    linear = Fraction(h) * Fraction(k) * exact / 2
    return own, KernelConstant(a, t, weights, np.zeros(body.n), h * k, linear)


def _positive(kernel: KernelProblem) -> tuple[KernelProblem, float]:
    """The problem with K - k and k, where no entry of K - k is rounded or small beside others.

    Unlike those of `KernelProblem.without_constant` they are positive, as K - k has more positive
    eigenvalues then.
    """
    least, most = kernel.gram.extremes
    k = least - (most - least)
    made = derived(kernel, "positive", lambda: kernel.with_gram(DenseGram.of_own(kernel.K - k)))
    return made, k


def with_linear(
    q: Array, constants: tuple[KernelConstant, ...], body: Polyhedron
) -> tuple[Array, float]:
    """q with the linear terms of constants, and by how much F may be wrong on the feasible set."""
    doubt, moved = math.fsum(one.doubt for one in constants), [c for c in constants if c.linear]
    if not moved:
        return q, doubt
    exact = [Fraction(slope) for slope in q.tolist()]
    for one in moved:
        exact = [e + one.linear * Fraction(v) for e, v in zip(exact, one.a.tolist(), strict=True)]
    rounded = np.array([float(slope) for slope in exact])
    errors = [abs(e - Fraction(r)) for e, r in zip(exact, rounded.tolist(), strict=True)]
    # Their sum is rounded, too.
    wrong = _most(np.array([float(error) for error in errors]), body)
    return rounded, doubt + (1.0 + (q.size + 4.0) * EPS) * wrong


def _most(sizes: Array, body: Polyhedron) -> float:
    """Σ sizes_j·|x_j| at most, on the feasible set."""
    low, high = body.intervals
    held = sizes > 0.0
    return float(sizes[held] @ np.maximum(np.abs(low), np.abs(high))[held])


def _combination(A: Array, a: Array) -> list[Fraction] | None:
    """w with Aᵀw = a exactly; None if none is found.

    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0], [5.0, 0.0, 0.0]])
    >>> [str(r) for r in _combination(rows, np.array([1.0, 1.0, -1.0]))]
    ['1', '-1/2', '0']
    """
    rough = np.abs(np.linalg.lstsq(A.T, a, rcond=None)[0])
    chosen = np.flatnonzero(rough > _NEGLIGIBLE * rough.max(initial=0.0))
    columns = np.unique(np.vstack([A[chosen], a]).T, axis=0)
    if not chosen.size or columns.size > _MAX_ENTRIES:
        return None
    left = [[Fraction(v) for v in column] for column in columns.tolist()]
    solved: list[tuple[int, list[Fraction]]] = []
    for k in range(chosen.size):
        pivot = next((row for row in left if row[k]), None)
        if pivot is not None:
            left = [_without(k, pivot, row) for row in left if row is not pivot]
            solved = [(i, _without(k, pivot, row)) for i, row in solved] + [(k, pivot)]
    if any(row[-1] for row in left):
        return None
    w = [Fraction(0)] * len(A)
    for k, row in solved:
        w[chosen[k]] = row[-1] / row[k]
    return w


def _without(k: int, pivot: list[Fraction], row: list[Fraction]) -> list[Fraction]:
    """A row less the multiple of the pivot row that makes entry k zero."""
    share = row[k] / pivot[k]
    return [a - share * b for a, b in zip(row, pivot, strict=True)] if share else row
