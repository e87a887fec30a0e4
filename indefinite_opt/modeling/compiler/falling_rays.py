"""How rays are found along which a model falls without end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.algebra import Canonical, Model
from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.compiler.declared_qp import as_declared_qp
from indefinite_opt.modeling.compiler.reading import Mismatch, Reading
from indefinite_opt.modeling.rays import (
    FORMAT,
    FailedRay,
    UnboundedRay,
    check,
    growth_form,
    growth_model,
    places,
)
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    LinearRows,
    PolyhedralQP,
    falling_ray,
    met_exactly,
    proved_ray,
)

Vector = list[Fraction]

_DIGITS = (4, 8, 16, 32, 52)
"""Binary digits to which a direction is rounded, fewest first: short numbers are soon multiplied."""

_DESCENTS = 8
"""Eigenvectors from which a direction is sought by descent, if no eigenvector is one."""

_ROUNDING = 1e-12
"""Share of the largest eigenvalue up to which others count as 0."""

_MOST = 4e6
"""Most entries of matrices for which a proof is written: products of fractions take 2 µs each."""

_NAMED = 6
"""Entries of a direction that a message names."""


def model_ray(model: Model, problem: KernelProblem | None, near: Any = None) -> UnboundedRay | None:
    """A ray along which the objective of a model falls, or rises if it is maximised, without end.

    None if none is found, which says nothing: the question is NP-hard. With `near` only directions
    near that one are tried.
    """
    form = growth_form(model)
    if form is None or not form.variables or _entries(form) > _MOST:
        return None
    document = {"format": FORMAT, "model": growth_model(form), "direction": [], "start": []}
    with one_thread(), np.errstate(all="ignore"):
        for direction, start in _candidates(form, problem, near):
            ends = {"direction": _written(direction), "start": _written(start)}
            try:
                a, b = check(document | ends)
            except FailedRay:
                continue
            return UnboundedRay(a, b, document | ends, form.variables)
    return None


def unbounded(model: Model, problem: KernelProblem | None) -> UnboundedProblem | None:
    """The error with a ray of a model; None if none is found."""
    ray = model_ray(model, problem)
    if ray is None:
        return None
    entries = [
        (value, f"{name}[{k}]" if ray.shapes[name] else name)
        for name, part in ray.direction.items()
        for k, value in enumerate(np.ravel(part, order="F").tolist())
        if value
    ]
    told = ", ".join(f"{value:.3g} in {place}" for value, place in entries[:_NAMED])
    more = ", ..." if len(entries) > _NAMED else ""
    rate = f"{float(ray.quadratic):.3g} t²" if ray.quadratic else f"{float(ray.linear or 0):.3g} t"
    sign = "" if model.maximize is None else "minus "
    return UnboundedProblem(
        f"The model is unbounded: along t·d, for the direction d ({told}{more}, 0 elsewhere), "
        f"{sign}the objective falls as {rate}, which other terms do not make up for. Add bounds, "
        "or a penalty that is convex.",
        ray.ray,
        ray,
    )


def _entries(form: Canonical) -> int:
    """The entries of all matrices, as if none was sparse."""
    parts = [*form.quadratics, *form.separables, *form.rows, *form.norms, *form.hidden]
    return sum(part.u.m for part in parts) * places(form)[1]


def _written(v: Vector) -> list[list[int]]:
    return [[*part.as_integer_ratio()] for part in v]


def _candidates(
    form: Canonical, problem: KernelProblem | None, near: Any
) -> Iterator[tuple[Vector, Vector]]:
    """Directions in fractions with starts."""
    where, total = places(form)
    n = sum(where[name].stop - where[name].start for name in form.variables)
    equal = [row for row in form.rows if row.equal]
    E = np.vstack([np.zeros((0, total)), *(row.u.rows(where, total) for row in equal)])[:, :n]
    rhs = np.concatenate([np.zeros(0), *(-row.u.constants for row in equal)])
    if near is not None or not (form.bounds or form.norms or len(form.rows) > len(equal)):
        start = met_exactly(E, np.zeros(n), rhs, np.ones(n))
        growth = _Growth(form, where, total, n)
        found = growth.directions(E) if near is None else [np.asarray(near, float)]
        for direction in found if start is not None else ():
            for digits in _DIGITS:
                d = np.round(direction / np.max(np.abs(direction)) * 2.0**digits)
                d /= max(np.gcd.reduce(d.astype(np.int64)), 1)
                exact = met_exactly(E, d)
                if exact is not None and growth(d) < 0.0:
                    yield exact, start
                    break
    yield from _by_programs(form, problem, n)


class _Growth:
    """f(d) = ½dᵀPd + Σ w max(Ad, 0)², up to rounding and without hidden variables."""

    def __init__(
        self, form: Canonical, where: dict[str, slice], total: int, n: int
    ) -> None:
        self.P = form.arrays(where, total)[0][:n, :n]
        squares = [term for term in form.separables if term.kind == "pos2"]
        parts = [term.u.rows(where, total)[:, :n] for term in squares]
        weights = [np.broadcast_to(np.asarray(term.weights, float), term.u.m) for term in squares]
        self.A = np.vstack([np.zeros((0, n)), *parts])
        self.w = np.concatenate([np.zeros(0), *weights])

    def __call__(self, d: Array) -> float:
        return float(0.5 * d @ self.P @ d + self.w @ np.maximum(self.A @ d, 0.0) ** 2)

    def share(self, d: Array) -> tuple[float, Array]:
        """f(d)/‖d‖² and its gradient."""
        above, square = np.maximum(self.A @ d, 0.0), float(d @ d)
        image = self.P @ d
        value = float(0.5 * d @ image + self.w @ above**2) / square
        return value, (image + 2.0 * self.A.T @ (self.w * above) - 2.0 * value * d) / square

    def directions(self, E: Array) -> Iterator[Array]:
        """Directions d with Ed = 0 and f(d) < 0: eigenvectors, then ends of descents from these.

        If v has an eigenvalue below 0, one of v and -v may be such a direction.
        """
        import scipy.linalg
        import scipy.optimize

        Z = scipy.linalg.null_space(E) if len(E) else np.eye(self.P.shape[1])
        if not Z.size:
            return
        values, vectors = np.linalg.eigh(Z.T @ self.P @ Z)
        falling = values < -_ROUNDING * np.max(np.abs(values))
        both = np.hstack([vectors[:, falling], -vectors[:, falling]])
        lines = (Z @ both).T
        order = np.argsort([self(d) for d in lines], kind="stable")
        if not order.size:
            return
        if self(lines[order[0]]) < 0.0:
            yield lines[order[0]]
        for d in lines[order[:_DESCENTS]] @ Z:
            def along(z: Array) -> tuple[float, Array]:
                value, slope = self.share(Z @ z)
                return value, Z.T @ slope

            end = scipy.optimize.minimize(along, d, jac=True, method="L-BFGS-B").x
            if self(Z @ end) < 0.0:
                yield Z @ end


def _by_programs(
    form: Canonical, problem: KernelProblem | None, n: int
) -> Iterator[tuple[Vector, Vector]]:
    """Rays of two quadratic programs over the same rows.

    The first one is without the terms that do not outgrow |t|. The second one has piecewise linear
    ones in their places, which grow alike.
    """
    squares = [term for term in form.separables if term.kind == "pos2"]
    alike = [
        replace(term, kind="pos")
        if term.kind == "logistic"
        else replace(term, kind="abs", weights=2.0 * term.bend * np.asarray(term.weights))
        if term.kind == "huber"
        else term
        for term in form.separables
        if term.kind != "lipschitz"
    ]
    for terms in (squares, alike):
        reduced = replace(form, separables=terms)
        try:
            qp = as_declared_qp(Reading(reduced), problem)
        except Mismatch:
            continue
        ray = _of_program(qp)
        if ray is not None:
            yield ray[0][:n], ray[1][:n]


def _of_program(qp: PolyhedralQP) -> tuple[Vector, Vector] | None:
    """Direction and start of a ray, if there is one from a feasible point."""
    qp.refuse_without_optimum()
    error = falling_ray(qp, LinearRows(qp.scaled), np.random.default_rng(0))
    if error is None or error.ray is None:
        return None
    ray = proved_ray(qp.standard_form(), np.asarray(error.ray), qp.point)
    return None if ray is None or ray.start is None else (ray.direction, ray.start)
