"""The linear programming support vector machine: sparse in coefficients, any matrix as kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.classifier import Classifier
from indefinite_opt.formulation import Formulation, check_positive
from indefinite_opt.problem import KernelProblem
from indefinite_opt.program import Program, constants
from indefinite_opt.structure import LinearProgram

__all__ = ["LPSVM"]

Array = NDArray[np.float64]


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

    def declare(self, problem: KernelProblem) -> Program:
        import cvxpy as cp

        u = cp.Variable(problem.n, name="u")
        b = cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        C, K, y = constants(C=self.C, K=problem.K, y=problem.y)
        return Program(
            name=str(self),
            minimize=cp.norm1(u) + C * cp.sum(xi),
            subject_to={"margin": cp.multiply(y, K @ u + b) >= 1 - xi, "slack": xi >= 0},
            structure=self.structure(problem),
        )

    def structure(self, problem: KernelProblem) -> LinearProgram:
        """x = (p, r, b, ξ) with u = p - r; rows y∘(K(p - r) + be) + ξ ≥ e."""
        n = problem.n
        return LinearProgram(
            cost=np.concatenate([np.ones(2 * n), [0.0], np.full(n, self.C)]),
            lower=np.concatenate([np.zeros(2 * n), [-np.inf], np.zeros(n)]),
            upper=np.full(3 * n + 1, np.inf),
            row_lower=np.ones(n),
            row_upper=np.full(n, np.inf),
            build_matrix=partial(_rows, problem),
            key=(LPSVM, id(problem)),
            read=lambda x: {"u": x[:n] - x[n : 2 * n], "b": x[2 * n], "xi": x[2 * n + 1 :]},
            write=_write,
            read_multipliers=lambda rows, reduced: {
                "margin": np.maximum(rows, 0.0),
                "slack": np.maximum(reduced[-n:], 0.0),
            },
            write_multipliers=lambda named: named["margin"],
        )

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        return Classifier(values["u"], float(values["b"]), problem.classes)

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        """eᵀλ after λ is clipped to [0, C], balanced between classes, and scaled into the dual."""
        y, lam = problem.y, np.clip(multipliers["margin"], 0.0, self.C)
        plus, minus = float(lam[y > 0].sum()), float(lam[y < 0].sum())
        if min(plus, minus) <= 0.0:
            return 0.0
        lam = lam * np.where(y > 0, min(1.0, minus / plus), min(1.0, plus / minus))
        reach = float(np.max(np.abs(problem.K.T @ (y * lam))))
        return float(lam.sum()) / max(1.0, reach)


def _rows(problem: KernelProblem) -> object:
    """(YK, -YK, y, I), compressed by rows: each has its dense part and one slack."""
    from scipy import sparse

    n = problem.n
    entries = np.empty((n, 2 * n + 2))
    np.multiply(problem.K, problem.y[:, None], out=entries[:, :n])
    np.negative(entries[:, :n], out=entries[:, n : 2 * n])
    entries[:, 2 * n], entries[:, 2 * n + 1] = problem.y, 1.0
    columns = np.tile(np.arange(2 * n + 2, dtype=np.int32), (n, 1))
    columns[:, -1] += np.arange(n, dtype=np.int32)
    starts = np.arange(n + 1, dtype=np.int32) * (2 * n + 2)
    return sparse.csr_array((entries.ravel(), columns.ravel(), starts), shape=(n, 3 * n + 1))


def _write(values: dict[str, Array]) -> Array:
    u = values["u"]
    return np.concatenate([np.maximum(u, 0), np.maximum(-u, 0), [values["b"]], values["xi"]])
