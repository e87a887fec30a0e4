"""How rays are found along which a model falls without end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.algebra import Model
from indefinite_opt.errors import SolverFailed, UnboundedProblem
from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.compiler.declared_qp import as_declared_qp
from indefinite_opt.modeling.compiler.reading import Mismatch, Reading
from indefinite_opt.modeling.rays import (
    FORMAT,
    FailedRay,
    Growth,
    UnboundedRay,
    check,
    growth_form,
)
from indefinite_opt.quadratic import (
    LinearRows,
    falling_ray,
    met_exactly,
    proved_ray,
)

Vector = list[Fraction]

_DIGITS = (4, 8, 16, 32, 52)
"""Binary digits to which a direction is rounded; the fewest first, which are easy to read."""

_DESCENTS = 8
"""Eigenvectors from which a direction is sought by descent, if no eigenvector is one."""

_FAR, _MARGIN = (10.0, 1e4), 1e-6
"""In units of the largest entry of a direction: ranges of entries that are not in the quadratic
terms, and the least distance to the rows, far above the tolerance of a linear program."""

_ROUNDING = 1e-12
"""Share of the largest eigenvalue up to which others count as 0."""

_MOST = 2000
"""Most entries of variables for which a proof is written, as products of fractions take 2 µs."""

_NAMED = 6
"""Entries of a direction that a message names."""


def model_ray(
    model: Model, given: UnboundedRay | None = None, by_programs: bool = True
) -> UnboundedRay | None:
    """A ray along which the objective of a model falls, or rises if it is maximised, without end.

    None if none is found, which says nothing: the question is NP-hard. A `given` ray, as of other
    numbers, is the only one that is tried. Without `by_programs` only eigenvectors are, and ends of
    descents from these.
    """
    form = growth_form(model)
    if form is None or not 0 < sum(map(math.prod, form.variables.values())) <= _MOST:
        return None
    growth, document = Growth(form), dict[str, Any]()
    with one_thread(), np.errstate(all="ignore"):
        for ends in [given.document] if given else _candidates(growth, by_programs):
            document = document or {"format": FORMAT, "model": growth.document()}
            document = document | {name: ends[name] for name in ("direction", "start")}
            try:
                return UnboundedRay(*check(document), document, form.variables)
            except FailedRay:
                continue
    return None


def unbounded(model: Model, by_programs: bool = True) -> UnboundedProblem | None:
    """The error with a ray of a model; None if none is found. See `model_ray`."""
    ray = model_ray(model, by_programs=by_programs)
    if ray is None:
        return None
    entries = []
    for name, part in ray.direction.items():
        places = [f"{name}[{k}]" if part.ndim else name for k in range(part.size)]
        values = zip(np.ravel(part, order="F").tolist(), places, strict=True)
        entries += [f"{value:.3g} in {place}" for value, place in values if value]
    told = ", ".join(entries[:_NAMED] + ["..."] * (len(entries) > _NAMED))
    rate = f"{float(ray.quadratic):.3g} t²" if ray.quadratic else f"{float(ray.linear or 0):.3g} t"
    return UnboundedProblem(
        f"The model is unbounded: along t·d, for the direction d ({told}, 0 elsewhere), "
        f"{'' if model.maximize is None else 'minus '}the objective falls as {rate}, which other "
        "terms do not make up for. Add bounds, or a penalty that is convex.",
        ray.ray,
        ray,
    )


Ends = dict[str, list[list[int]]]


def _written(direction: Vector, start: Vector) -> Ends:
    ends = {"direction": direction, "start": start}
    return {name: [[*part.as_integer_ratio()] for part in end] for name, end in ends.items()}


def _candidates(growth: Growth, by_programs: bool) -> Iterator[Ends]:
    """Directions and starts in fractions, as the checker reads them."""
    start = met_exactly(growth.E, np.zeros(growth.n), growth.rhs, np.ones(growth.n))
    for direction in () if start is None else _directions(growth):
        d = _rounded(growth, direction)
        if d is not None and start is not None:
            yield _written(d, start)
    if by_programs:
        yield from _by_programs(growth)


def _directions(growth: Growth) -> Iterator[Array]:
    """Directions that fall: eigenvectors, then ends of descents from these.

    If v has an eigenvalue below 0, one of v and -v may be such a direction.
    """
    from scipy.linalg import null_space
    from scipy.optimize import minimize

    if not growth.P.any():
        return
    Z = null_space(growth.E) if len(growth.E) else np.eye(growth.n)
    values, vectors = np.linalg.eigh(Z.T @ growth.P @ Z)
    falling = values < -_ROUNDING * np.max(np.abs(values), initial=0.0)
    lines = (Z @ np.hstack([vectors[:, falling], -vectors[:, falling]])).T
    lines = lines[np.argsort([growth(d) for d in lines], kind="stable")[:_DESCENTS]]

    def along(z: Array) -> tuple[float, Array]:
        value, slope = growth.share(Z @ z)
        return value, Z.T @ slope

    ends = (Z @ minimize(along, d, jac=True, method="L-BFGS-B").x for d in lines @ Z)
    for d in itertools.chain(lines, ends):
        inside = _inside(growth, d) if growth(d) < 0.0 else None
        if inside is not None:
            yield inside


def _inside(growth: Growth, d: Array) -> Array | None:
    """d with other values of the variables without curvature, for which Gd < 0; None without."""
    from scipy.optimize import linprog

    G, E = growth.G, growth.E
    if not len(G) or np.all(G @ d < 0.0):
        return d
    other = ~(growth.P.any(axis=0) | growth.A.any(axis=0))
    fixed, k, size = np.where(other, 0.0, d), int(other.sum()), float(np.max(np.abs(d)))
    if not np.all((G @ fixed < 0.0) | G[:, other].any(axis=1)):
        return None
    distance = np.linalg.norm(G, axis=1)[:, None]
    for far in _FAR:
        x = linprog(
            -np.eye(k + 1)[-1], np.hstack([G[:, other], distance]), -G @ fixed,
            np.hstack([E[:, other], np.zeros((len(E), 1))]), -E @ fixed,
            [(-far * size, far * size)] * k + [(0.0, size)],
        ).x  # fmt: skip
        if x is not None and x[-1] >= _MARGIN * size:
            fixed[other] = x[:-1]
            return fixed
    return None


def _rounded(growth: Growth, direction: Array) -> Vector | None:
    """A direction near another one with few digits that falls as well."""
    for digits in _DIGITS:
        d = np.round(direction / np.max(np.abs(direction)) * 2.0**digits)
        d /= max(np.gcd.reduce(d.astype(np.int64)), 1)
        if growth(d) < 0.0 and np.all(growth.G @ d <= 0.0):
            return met_exactly(growth.E, d)
    return None


def _by_programs(growth: Growth) -> Iterator[Ends]:
    """Rays of two quadratic programs over the same rows.

    The first one is without the terms that do not outgrow |t|. The second one has piecewise linear
    ones in their places, which grow alike.
    """
    squares, alike = [], []
    for term in growth.form.separables:
        if term.kind == "pos2":
            squares.append(term)
        if term.kind == "huber":
            term = replace(term, kind="abs", weights=2.0 * term.bend * np.asarray(term.weights))
        if term.kind != "lipschitz":
            alike.append(replace(term, kind="pos") if term.kind == "logistic" else term)
    for terms in (squares, alike):
        try:
            qp = as_declared_qp(Reading(replace(growth.form, separables=terms)), None)
            qp.refuse_without_optimum()
        except (Mismatch, SolverFailed):
            continue
        error = falling_ray(qp, LinearRows(qp.scaled), np.random.default_rng(0))
        near = None if error is None else np.asarray(error.ray)
        ray = None if near is None else proved_ray(qp.standard_form(), near, qp.point)
        if ray is not None and ray.start is not None:
            yield _written(ray.direction[: growth.n], ray.start[: growth.n])
