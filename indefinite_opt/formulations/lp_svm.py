"""The linear programming support vector machine: sparse in coefficients, any matrix as kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.modeling.classifier import Classifier
from indefinite_opt.modeling.formulation import Formulation, check_positive
from indefinite_opt.modeling.program import Model, constants
from indefinite_opt.modeling.structures.quadratic_program import LinearProgram, power_near
from indefinite_opt.problem.kernel_problem import KernelProblem

__all__ = ["LPSVM"]

Array = NDArray[np.float64]

_EPS = float(np.finfo(float).eps)

_LEVEL = 8.0
"""A column of K is shifted where that makes its largest entry less by this factor."""

_COARSE = 1e-8
"""Relative rounding of the dual constraints beyond which they are computed more finely."""

_NOTHING = 1e-280
"""Sums of multipliers that are smaller count as zero: their units would underflow."""


@dataclass(frozen=True)
class LPSVM(Formulation):
    r"""Linear programming SVM (generalised SVM with a 1-norm).

    .. math:: \min_{u,b,\xi}\ \|u\|_1 + C e^\top\xi
              \quad\text{s.t.}\quad y \circ (Ku + be) \ge e - \xi,\ \xi \ge 0

    Convex for every kernel; u is the coefficient vector itself, of free sign.

    Parameters
    ----------
    C : float
        Weight of the slacks.

    Notes
    -----
    Dual: max eᵀλ s.t. |Kᵀ(y∘λ)| ≤ e, yᵀλ = 0, 0 ≤ λ ≤ C. Any λ is moved and scaled into it, so
    the bound needs no trust in the solver.

    References
    ----------
    Mangasarian (1999), generalised support vector machines; compared by Loosli, Ong & Canu (2013).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> round(iopt.solve(problem, LPSVM(C=10.0)).objective, 12)
    1.0
    """

    C: float = 1.0

    reference: ClassVar[str] = "Mangasarian (1999); Loosli, Ong & Canu (2013), section 5"
    structure_type: ClassVar[type] = LinearProgram
    convex: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        check_positive("C", self.C)

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        u = cp.Variable(problem.n, name="u")
        b = cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        C, K, y = constants(C=self.C, K=problem.K, y=problem.y)
        return Model(
            minimize=cp.norm1(u) + C * cp.sum(xi),
            subject_to={"margin": cp.multiply(y, K @ u + b) >= 1 - xi, "slack": xi >= 0},
        )

    def structure(self, problem: KernelProblem) -> LinearProgram:
        """x = (p, r, b, ξ) with u = p - r; rows y∘(K(p - r) + be) + ξ ≥ e."""
        n = problem.n
        natural = _Units(np.ones(n), np.zeros(n))
        return replace(self._program(problem, natural), rescale=partial(self._rescale, problem))

    def _rescale(self, problem: KernelProblem) -> LinearProgram | None:
        units = _units(problem)
        natural = not units.level.any() and np.all(units.scale == 1.0)
        return None if natural else self._program(problem, units)

    def _program(self, problem: KernelProblem, units: _Units) -> LinearProgram:
        n = problem.n
        return LinearProgram(
            cost=np.concatenate([units.scale, units.scale, [0.0], np.full(n, self.C)]),
            lower=np.concatenate([np.zeros(2 * n), [-np.inf], np.zeros(n)]),
            upper=np.full(3 * n + 1, np.inf),
            row_lower=np.ones(n),
            row_upper=np.full(n, np.inf),
            build_matrix=partial(_rows, problem, units),
            key=(LPSVM, id(problem)),
            read=units.read,
            write=units.write,
            read_multipliers=lambda rows, reduced: {
                "margin": np.maximum(rows, 0.0),
                "slack": np.maximum(reduced[-n:], 0.0),
            },
            write_multipliers=lambda named: named["margin"],
            repair=lambda x: units.write(_repaired(problem, units.read(x))),
            slacks={"xi": 1.0},
        )

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        return Classifier(values["u"], float(values["b"]), problem.classes)

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        """eᵀλ after λ is clipped to [0, C], balanced between classes, and scaled into the dual.

        yᵀλ = 0 holds exactly, and the products with K are as large as rounding may have made them.
        """
        lam = _balanced(np.clip(multipliers["margin"], 0.0, self.C), problem.y)
        total = float(lam.sum())
        reach, error = _reach(problem.K, problem.largest, problem.y * lam, total)
        if error > _COARSE * max(1.0, reach):
            # yᵀλ = 0: a column of K may be shifted by any number.
            shifted = problem.K - problem.K.mean(axis=0)
            largest = float(np.max(np.abs(shifted)))
            reach, error = _reach(shifted, largest, problem.y * lam, total)
        # A sum and a quotient are rounded once each.
        return total / max(1.0, reach + error) * (1.0 - 4.0 * _EPS) if total > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class _Units:
    """u = scale∘(p - r) and b = b' - levelᵀu: columns of K less their level, times their scale."""

    scale: Array
    level: Array

    def read(self, x: Array) -> dict[str, Array]:
        n = self.scale.size
        u = self.scale * (x[:n] - x[n : 2 * n])
        return {"u": u, "b": x[2 * n] - self.level @ u, "xi": x[2 * n + 1 :]}

    def write(self, values: dict[str, Array]) -> Array:
        u = values["u"] / self.scale
        offset = values["b"] + self.level @ values["u"]
        return np.concatenate([np.maximum(u, 0), np.maximum(-u, 0), [offset], values["xi"]])


def _units(problem: KernelProblem) -> _Units:
    """Units in which the largest entry of K is about 1, and that of a column no less than 1/8."""
    K = problem.K
    sizes, level = np.abs(K).max(axis=0), K.mean(axis=0)
    spreads = np.abs(K - level).max(axis=0)
    # Rounding of a column that is constant is no spread.
    steep = (_LEVEL * spreads < sizes) & (spreads > problem.n * _EPS * sizes)
    wanted = np.where(steep, spreads, sizes)
    largest = float(wanted.max())
    # Columns of about the same size keep one unit, so that their prices stay the same.
    wanted = np.where(wanted >= 0.125 * largest, largest, wanted)
    return _Units(1.0 / power_near(wanted), np.where(steep, level, 0.0))


def _repaired(problem: KernelProblem, values: dict[str, Array]) -> dict[str, Array]:
    """The same u and b with the slacks that they need."""
    margins = problem.y * (problem.K @ values["u"] + values["b"])
    return values | {"xi": np.maximum(1.0 - margins, 0.0)}


def _balanced(lam: Array, y: Array) -> Array:
    """λ lowered in one class until yᵀλ = 0, exactly: in units in which all sums are integers."""
    sums = float(lam[y > 0].sum()), float(lam[y < 0].sum())
    if not min(sums) > _NOTHING:
        return np.zeros_like(lam)
    unit = 2.0 ** (np.ceil(np.log2(min(sums))) - 51.0)
    shares = np.where(y > 0, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
    counts = np.floor(lam * shares / unit)
    excess = float(y @ counts)
    larger = np.where(y * excess > 0.0, counts, 0.0)
    before = np.concatenate([[0.0], np.cumsum(larger)[:-1]])
    return np.asarray(unit * (counts - np.clip(abs(excess) - before, 0.0, larger)))


def _reach(matrix: Array, largest: float, signed: Array, total: float) -> tuple[float, float]:
    """max |Aᵀz|, and what rounding may have taken from it; |A| ≤ largest, |z| of sum total."""
    reach = float(np.max(np.abs(matrix.T @ signed)))
    return reach, (signed.size + 4) * _EPS * largest * total


def _rows(problem: KernelProblem, units: _Units) -> object:
    """(YK, -YK, y, I), compressed by rows: each has its dense part and one slack."""
    from scipy import sparse

    n = problem.n
    entries = np.empty((n, 2 * n + 2))
    np.subtract(problem.K, units.level, out=entries[:, :n])
    entries[:, :n] *= units.scale
    entries[:, :n] *= problem.y[:, None]
    np.negative(entries[:, :n], out=entries[:, n : 2 * n])
    entries[:, 2 * n], entries[:, 2 * n + 1] = problem.y, 1.0
    columns = np.tile(np.arange(2 * n + 2, dtype=np.int32), (n, 1))
    columns[:, -1] += np.arange(n, dtype=np.int32)
    starts = np.arange(n + 1, dtype=np.int32) * (2 * n + 2)
    return sparse.csr_array((entries.ravel(), columns.ravel(), starts), shape=(n, 3 * n + 1))
