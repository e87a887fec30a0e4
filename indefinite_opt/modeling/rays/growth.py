"""How the objective of a model grows, as arrays and as the numbers that `ray_checker` reads."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    AffineRows,
    Canonical,
    CvxpyAtom,
    Hidden,
    MatrixFactor,
    Model,
    NotCanonical,
    Operator,
    Reader,
    RowFactor,
    SeparableTerm,
    VariableBound,
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
    """The canonical form with rows instead of bounds; None if the growth is not known."""
    try:
        form = canonical(model, reader=GrowthReader({}))
    except NotCanonical:
        return None
    rows, hidden = list(form.rows), list(form.hidden)
    for norm in form.norms:
        hidden.append(Hidden(f"·{norm.name}", "abs", norm.u, norm.u.m, norm.text))
        sums = Operator.of(RowFactor(np.ones(norm.u.m)))
        rows.append(AffineRows(norm.name, Affine(1, {hidden[-1].name: sums}, -norm.end), False))
    rows += [_as_rows(bound, math.prod(form.variables[bound.variable])) for bound in form.bounds]
    return replace(form, rows=rows, hidden=hidden, norms=[], bounds=[])


def _as_rows(bound: VariableBound, n: int) -> AffineRows:
    """v - end ≤ 0 or end - v ≤ 0, where the end is finite."""
    sign, ends = 1.0 if bound.side == "upper" else -1.0, np.zeros(n) + np.ravel(bound.end)
    kept = np.isfinite(ends)
    A = Operator.of(MatrixFactor(sign * np.eye(n)[kept]))
    return AffineRows(
        bound.name, Affine(len(ends[kept]), {bound.variable: A}, -sign * ends[kept]), False
    )


class Growth:
    """½dᵀPd + qᵀd + Σ w max(Ad, 0)² with Ed = rhs and Gd ≤ 0, for the declared variables d.

    Hidden variables are left out, with the rows that have some.

    Attributes
    ----------
    places : dict of str to slice
        Where the entries of each declared and then of each hidden variable are.
    n, total : int
        The numbers of declared entries and of all.
    """

    def __init__(self, form: Canonical) -> None:
        sizes = {name: math.prod(shape) for name, shape in form.variables.items()}
        self.n, sizes = sum(sizes.values()), sizes | {one.name: one.size for one in form.hidden}
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self.places = {
            name: slice(end - sizes[name], end) for name, end in zip(sizes, ends[1:], strict=True)
        }
        self.total, self.form, n = ends[-1], form, self.n
        P, q, _ = form.arrays(self.places, self.total)
        self.P, self.q = P[:n, :n], q[:n]
        squares = [term for term in form.separables if term.kind == "pos2"]
        self.A = self._stacked([term.u for term in squares])
        weights = [np.zeros(term.u.m) + term.weights for term in squares]
        self.w = np.concatenate([np.zeros(0), *weights])
        equal = [row.u for row in form.rows if row.equal]
        self.E = self._stacked(equal)
        self.rhs = -np.concatenate([np.zeros(0), *(u.constants for u in equal)])
        self.G = self._stacked(
            [r.u for r in form.rows if not r.equal and r.u.linear.keys() <= form.variables.keys()]
        )

    def _stacked(self, parts: list[Affine]) -> Array:
        rows = (u.rows(self.places, self.total)[:, : self.n] for u in parts)
        return np.vstack([np.zeros((0, self.n)), *rows])

    def __call__(self, d: Array) -> float:
        """½dᵀPd + Σ w max(Ad, 0)², up to rounding."""
        return float(0.5 * d @ self.P @ d + self.w @ np.maximum(self.A @ d, 0.0) ** 2)

    def share(self, d: Array) -> tuple[float, Array]:
        """The same over ‖d‖², and its gradient."""
        square, above = float(d @ d), np.maximum(self.A @ d, 0.0)
        value = self(d) / square
        return value, (self.P @ d + 2.0 * self.A.T @ (self.w * above) - 2.0 * value * d) / square

    def document(self) -> dict[str, Any]:
        """The numbers of the model, which is minimised; see `ray_checker`."""
        cost = np.zeros(self.total)
        for name, operator in self.form.affine.linear.items():
            cost[self.places[name]] += operator.row
        forms, terms = [], []
        for form in self.form.quadratics:
            v = None if form.v is None else self._rows(form.v)
            P = None if form.P is None else _pairs(form.P.dense())
            forms.append({"weight": form.weight, "u": self._rows(form.u), "P": P, "v": v})
        for term in self.form.separables:
            weights = (np.zeros(term.u.m) + term.weights).tolist()
            own = {"kind": term.kind, "weights": weights, "bend": term.bend}
            terms.append(own | {"u": self._rows(term.u)})
        rows = [
            {"name": row.name, "equal": row.equal, "u": self._rows(row.u)} for row in self.form.rows
        ]
        hidden = [
            {"kind": one.kind, "u": self._rows(one.u), "size": one.size, "count": one.count}
            for one in self.form.hidden
        ]
        return {
            "variables": self.n, "cost": cost.tolist(), "forms": forms, "terms": terms,
            "rows": rows, "hidden": hidden,
        }  # fmt: skip

    def _rows(self, u: Affine) -> dict[str, Any]:
        return {"A": _pairs(u.rows(self.places, self.total)), "b": u.constants.tolist()}


def _pairs(matrix: Array) -> list[list[list[float]]]:
    """The entries of each row that are not 0, with their places."""
    return [[[j, a] for j, a in enumerate(row) if a] for row in matrix.tolist()]
