"""How rays are found along which a model falls without end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.algebra import Affine, Canonical, Model
from indefinite_opt.errors import SolverFailed, UnboundedProblem
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
"""Binary digits to which a direction is rounded; the fewest first, which are easy to read."""

_DESCENTS = 8
"""Eigenvectors from which a direction is sought by descent, if no eigenvector is one."""

_FAR, _MARGIN = 1e4, 1e-6
"""In units of the largest entry of a direction: the range of entries that are not in the quadratic
terms, and the least distance to the rows, far above the tolerance of a linear program."""

_ROUNDING = 1e-12
"""Share of the largest eigenvalue up to which others count as 0."""

_MOST = 4e6
"""Most entries of matrices for which a proof is written: products of fractions take 2 µs each."""

_NAMED = 6
"""Entries of a direction that a message names."""


def model_ray(
    model: Model,
    problem: KernelProblem | None,
    given: UnboundedRay | None = None,
    by_programs: bool = True,
) -> UnboundedRay | None:
    """A ray along which the objective of a model falls, or rises if it is maximised, without end.

    None if none is found, which says nothing: the question is NP-hard. A `given` ray, as of other
    numbers, is the only one that is tried. Without `by_programs` only eigenvectors are, and ends of
    descents from these.
    """
    form = growth_form(model)
    if form is None or not form.variables or _entries(form) > _MOST:
        return None
    document: dict[str, Any] = {}
    with one_thread(), np.errstate(all="ignore"):
        for ends in [given.document] if given else _candidates(form, problem, by_programs):
            document = document or {"format": FORMAT, "model": growth_model(form)}
            document |= {name: ends[name] for name in ("direction", "start")}
            try:
                a, b = check(document)
            except FailedRay:
                continue
            return UnboundedRay(a, b, document, form.variables)
    return None


def unbounded(
    model: Model, problem: KernelProblem | None, by_programs: bool = True
) -> UnboundedProblem | None:
    """The error with a ray of a model; None if none is found. See `model_ray`."""
    ray = model_ray(model, problem, by_programs=by_programs)
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
    counts = [term.u.m for term in form.quadratics] + [term.u.m for term in form.separables]
    counts += [row.u.m for row in form.rows] + [one.u.m for one in form.hidden]
    return sum(counts) * places(form)[1]


def _written(direction: Vector, start: Vector) -> dict[str, list[list[int]]]:
    ends = {"direction": direction, "start": start}
    return {name: [[*part.as_integer_ratio()] for part in end] for name, end in ends.items()}


def _candidates(
    form: Canonical, problem: KernelProblem | None, by_programs: bool
) -> Iterator[dict[str, list[list[int]]]]:
    """Directions and starts in fractions, as the checker reads them."""
    growth = _Growth(form)
    start = met_exactly(growth.E, np.zeros(growth.n), growth.rhs, np.ones(growth.n))
    if start is not None:
        for direction in growth.directions():
            d = growth.rounded(direction)
            if d is not None:
                yield _written(d, start)
    if by_programs:
        for ray in _by_programs(form, problem):
            yield _written(*ray)


class _Growth:
    """f(d) = ½dᵀPd + Σ w max(Ad, 0)² with Ed = 0 and Gd ≤ 0, up to rounding.

    Hidden variables are left out.
    """

    def __init__(self, form: Canonical) -> None:
        where, total = places(form)
        self.n = n = sum(where[name].stop - where[name].start for name in form.variables)

        def stacked(parts: list[Affine]) -> Array:
            return np.vstack([np.zeros((0, n)), *(u.rows(where, total)[:, :n] for u in parts)])

        squares = [term for term in form.separables if term.kind == "pos2"]
        equal = [row.u for row in form.rows if row.equal]
        ends = []
        for bound in form.bounds:
            part, sign = where[bound.variable], 1.0 if bound.side == "upper" else -1.0
            ends.append(
                sign * np.eye(n)[part][np.isfinite(np.zeros(part.stop - part.start) + bound.end)]
            )
        self.P = form.arrays(where, total)[0][:n, :n]
        self.A = stacked([term.u for term in squares])
        weights = [np.broadcast_to(np.asarray(term.weights, float), term.u.m) for term in squares]
        self.w = np.concatenate([np.zeros(0), *weights])
        self.E = stacked(equal + [norm.u for norm in form.norms])
        self.rhs = np.zeros(len(self.E))
        sides = [-u.constants for u in equal]
        self.rhs[: sum(side.size for side in sides)] = np.concatenate([np.zeros(0), *sides])
        self.G = np.vstack([stacked([row.u for row in form.rows if not row.equal]), *ends])

    def __call__(self, d: Array) -> float:
        return float(0.5 * d @ self.P @ d + self.w @ np.maximum(self.A @ d, 0.0) ** 2)

    def share(self, d: Array) -> tuple[float, Array]:
        """f(d)/‖d‖² and its gradient."""
        above, square = np.maximum(self.A @ d, 0.0), float(d @ d)
        image = self.P @ d
        value = float(0.5 * d @ image + self.w @ above**2) / square
        return value, (image + 2.0 * self.A.T @ (self.w * above) - 2.0 * value * d) / square

    def directions(self) -> Iterator[Array]:
        """Directions d with Ed = 0, Gd < 0 and f(d) < 0: eigenvectors, then ends of descents.

        If v has an eigenvalue below 0, one of v and -v may be such a direction. Rows are left by
        variables that are not in f.
        """
        from scipy.linalg import null_space
        from scipy.optimize import minimize

        Z = null_space(self.E) if len(self.E) else np.eye(self.n)
        values, vectors = np.linalg.eigh(Z.T @ self.P @ Z)
        falling = values < -_ROUNDING * np.max(np.abs(values), initial=0.0)
        both = np.hstack([vectors[:, falling], -vectors[:, falling]])
        lines = (Z @ both).T
        order = np.argsort([self(d) for d in lines], kind="stable")[:_DESCENTS]

        def along(z: Array) -> tuple[float, Array]:
            value, slope = self.share(Z @ z)
            return value, Z.T @ slope

        ends = (Z @ minimize(along, d, jac=True, method="L-BFGS-B").x for d in lines[order] @ Z)
        for d in itertools.chain(lines[order], ends):
            inside = self.inside(d) if self(d) < 0.0 else None
            if inside is not None:
                yield inside

    def inside(self, d: Array) -> Array | None:
        """d with other values of the variables that are not in f, for which Gd < 0."""
        from scipy.optimize import linprog

        if not len(self.G):
            return d
        other = ~(self.P.any(axis=0) | self.A.any(axis=0))
        image, turned = self.G @ np.where(other, 0.0, d), self.G[:, other]
        if not other.any() or np.any(image[~turned.any(axis=1)] >= 0.0):
            return d if np.all(self.G @ d < 0.0) else None
        k, size = turned.shape[1], float(np.max(np.abs(d)))
        rows = np.hstack([turned, np.linalg.norm(self.G, axis=1)[:, None]])
        equations = np.hstack([self.E[:, other], np.zeros((len(self.E), 1))])
        sums = self.E @ np.where(other, 0.0, d)
        ends = [(-_FAR * size, _FAR * size)] * k + [(0.0, size)]
        found = linprog(-np.eye(k + 1)[-1], rows, -image, equations, -sums, ends).x
        if found is None or found[-1] < _MARGIN * size:
            return None
        whole = d.copy()
        whole[other] = found[:-1]
        return whole

    def rounded(self, direction: Array) -> Vector | None:
        """A direction near another one with few digits for which all of that holds."""
        for digits in _DIGITS:
            d = np.round(direction / np.max(np.abs(direction)) * 2.0**digits)
            d /= max(np.gcd.reduce(d.astype(np.int64)), 1)
            if self(d) < 0.0 and np.all(self.G @ d <= 0.0):
                return met_exactly(self.E, d)
        return None


def _by_programs(form: Canonical, problem: KernelProblem | None) -> Iterator[tuple[Vector, Vector]]:
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
            n = sum(part.stop - part.start for part, _ in qp.layout.values())
            yield ray[0][:n], ray[1][:n]


def _of_program(qp: PolyhedralQP) -> tuple[Vector, Vector] | None:
    """Direction and start of a ray, if there is one from a feasible point."""
    try:
        qp.refuse_without_optimum()
    except SolverFailed:
        return None
    error = falling_ray(qp, LinearRows(qp.scaled), np.random.default_rng(0))
    if error is None:
        return None
    ray = proved_ray(qp.standard_form(), np.asarray(error.ray), qp.point)
    return None if ray is None or ray.start is None else (ray.direction, ray.start)
