"""How the objective of a model grows, as the numbers that `ray_checker` reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    Canonical,
    CvxpyAtom,
    Model,
    NotCanonical,
    Reader,
    SeparableTerm,
    canonical,
    joined,
)
from indefinite_opt.foundation import Array

_LIPSCHITZ = ("Pnorm", "normNuc", "sigma_max", "log_sum_exp")
"""Atoms of cvxpy whose values change by no more than a multiple of what their arguments do."""


class GrowthReader(Reader):
    """Reads an atom of `_LIPSCHITZ` as a term of the kind "lipschitz", whose weights say nothing.

    All that a ray needs of it is that it does not outgrow |t|.
    """

    def _other(self, e: Any) -> None:
        known = isinstance(e, CvxpyAtom) and e.title in _LIPSCHITZ
        if not known or getattr(e.origin, "p", 1) < 1:
            raise NotCanonical(e)
        u = joined([self.affine(arg) for arg in e.args])
        self.separables.append(SeparableTerm("lipschitz", 1.0, u, str(e)))


def growth_form(model: Model) -> Canonical | None:
    """The canonical form, in which the growth of every term is known; None if there is none."""
    try:
        return canonical(model, reader=GrowthReader({}))
    except NotCanonical:
        return None


def places(form: Canonical) -> tuple[dict[str, slice], int]:
    """Where the entries of each declared and then of each hidden variable are, and their number."""
    sizes = {name: math.prod(shape) for name, shape in form.variables.items()}
    sizes |= {one.name: one.size for one in form.hidden}
    ends = np.cumsum([0, *sizes.values()]).tolist()
    parts = zip(sizes, ends[:-1], ends[1:], strict=True)
    return {name: slice(first, end) for name, first, end in parts}, ends[-1]


def growth_model(form: Canonical) -> dict[str, Any]:
    """The numbers of a model that is minimised; see `ray_checker`."""
    where, _ = places(form)
    count = sum(math.prod(shape) for shape in form.variables.values())
    hidden = []
    for one in form.hidden:
        u = _affine(one.u, where)
        hidden.append({"kind": one.kind, "u": u, "size": one.size, "count": one.count})
    total = count + sum(one.size for one in form.hidden)
    rows = [{"name": row.name, "equal": row.equal, "u": _affine(row.u, where)} for row in form.rows]
    for norm in form.norms:
        parts = {"kind": "abs", "u": _affine(norm.u, where), "size": norm.u.m, "count": 1}
        hidden.append(parts)
        sums = [[j, 1.0] for j in range(total, total + norm.u.m)]
        rows.append({"name": norm.name, "equal": False, "u": {"A": [sums], "b": [-norm.end]}})
        total += norm.u.m
    for bound in form.bounds:
        first, sign = where[bound.variable], 1.0 if bound.side == "upper" else -1.0
        ends = np.broadcast_to(np.ravel(bound.end), first.stop - first.start)
        kept = np.flatnonzero(np.isfinite(ends)).tolist()
        A = [[[first.start + j, sign]] for j in kept]
        u = {"A": A, "b": [-sign * float(ends[j]) for j in kept]}
        rows.append({"name": bound.name, "equal": False, "u": u})
    cost = np.zeros(total)
    for name, operator in form.affine.linear.items():
        cost[where[name]] += operator.row
    forms = [
        {
            "weight": term.weight, "u": _affine(term.u, where),
            "P": None if term.P is None else _pairs(term.P.dense()),
            "v": None if term.v is None else _affine(term.v, where),
        }
        for term in form.quadratics
    ]  # fmt: skip
    terms = [
        {
            "kind": term.kind, "u": _affine(term.u, where), "bend": term.bend,
            "weights": np.broadcast_to(np.asarray(term.weights, float), term.u.m).tolist(),
        }
        for term in form.separables
    ]  # fmt: skip
    return {
        "variables": count, "cost": cost.tolist(), "forms": forms, "terms": terms, "rows": rows,
        "hidden": hidden,
    }  # fmt: skip


def _affine(u: Affine, where: Mapping[str, slice]) -> dict[str, Any]:
    total = max((part.stop for part in where.values()), default=0)
    return {"A": _pairs(u.rows(where, total)), "b": u.constants.tolist()}


def _pairs(matrix: Array) -> list[list[list[float]]]:
    """The entries of each row that are not 0, with their places."""
    every = (np.flatnonzero(row) for row in matrix)
    return [
        [[j, a] for j, a in zip(kept.tolist(), row[kept].tolist(), strict=True)]
        for kept, row in zip(every, matrix, strict=True)
    ]
