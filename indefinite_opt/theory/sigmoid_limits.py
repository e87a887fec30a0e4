"""The limits of the sigmoid kernel as r → -∞ and a → 0: Lin & Lin (2003), Theorems 8 and 9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.formulations import SVMDual
from indefinite_opt.foundation import Array, checked_points, checks
from indefinite_opt.problem import Kernel, KernelProblem, Sigmoid
from indefinite_opt.theory.sigmoid import checked_sigmoid
from indefinite_opt.theory.sigmoid_statement import log_half, one_plus_tanh
from indefinite_opt.workflow import solve

Pairs = Callable[[Array, Array], Array]

SOLVER_TOL = 1e-12
"""KKT residual asked of the solutions that are compared; smaller differences mean nothing."""


@dataclass(frozen=True)
class NormalisedSigmoid(Kernel):
    """k(x, z) = (1 + tanh(a⟨x, z⟩ + r))/(1 + tanh r), the kernel of Lin & Lin (16).

    With this kernel `SVMDual(C=C̃)`, C̃ = (1 + tanh r)C, is equivalent to `SVMDual(C)` with
    `kernels.Sigmoid`: α̃ = (1 + tanh r)α, and the decision values are equal. It keeps full accuracy
    for r ≪ 0, where tanh rounds to -1.

    Parameters
    ----------
    a : float, optional
        Of any sign; 1/d if not given.
    r : float

    Examples
    --------
    >>> NormalisedSigmoid(a=1.0, r=-30.0)([[0.0], [1.0]]).round(6)   # e^(2⟨x, z⟩)
    array([[1.      , 1.      ],
           [1.      , 7.389056]])
    """

    a: float | None = None
    r: float = -1.0
    name: ClassVar[str] = "normalised sigmoid"

    def __post_init__(self) -> None:
        Sigmoid(self.a, self.r)

    def evaluate(self, X: Array, Z: Array) -> Array:
        a = 1.0 / X.shape[1] if self.a is None else self.a
        return _normalised(a, self.r)(X @ Z.T, X)


@dataclass(frozen=True)
class LimitRow:
    """One SVM of a sequence that tends to a limit.

    Attributes
    ----------
    limit : {"r → -∞", "a → 0"}
    kernel : {"sigmoid", "exp(2a⟨x, z⟩)", "RBF"}
    parameter : float
        r or a.
    C : float
        The upper bound in this SVM: C̃/(1 + tanh r), or C̄/(2a).
    unit : float
        e^(2r) or a, in proportion to which the differences shrink.
    objective : float
        |difference of the optimal objectives|, both scaled as in (15): by 1 + tanh r, or by 2a.
    decision : float
        Largest |difference of the decision values|, with the offset.
    """

    limit: str
    kernel: str
    parameter: float
    C: float
    unit: float
    objective: float
    decision: float

    @property
    def ratio(self) -> float:
        """decision / unit, which tends to a constant in the limit."""
        return self.decision / self.unit


@dataclass(frozen=True)
class LimitStudy:
    """Theorems 8 and 9 in numbers; `print` it.

    Attributes
    ----------
    a : float
        Fixed while r → -∞.
    C : float
        C̃ of (17) while r → -∞, C̄ of (18) while a → 0.
    rows : tuple of LimitRow
    unique_offsets : (bool, bool)
        Whether a free support vector makes b of (17) and of (18) unique, as the theorems ask.
    residual : float
        Largest KKT residual of the solutions; differences below it mean nothing.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [0.2, 0.1]]
    >>> study = iopt.theory.limit_study(X, [1, -1, -1, 1], a=1.0, C=1.0)
    >>> {row.limit for row in study.rows} == {"r → -∞", "a → 0"}
    True
    """

    a: float
    C: float
    rows: tuple[LimitRow, ...]
    unique_offsets: tuple[bool, bool]
    residual: float

    def select(self, limit: str, kernel: str) -> tuple[LimitRow, ...]:
        """The rows of one limit and one kernel."""
        return tuple(row for row in self.rows if (row.limit, row.kernel) == (limit, kernel))

    def __str__(self) -> str:
        lines = [
            f"r → -∞: (2) with tanh(a⟨x, z⟩ + r), C = C̃/(1 + tanh r), against (17); "
            f"a = {self.a:.6g}, C̃ = {self.C:.6g} (Theorem 8)",
            *self._table("r → -∞", "e^2r", self.unique_offsets[0]),
            f"a → 0: (17) and RBF, C̃ = C̄/(2a), against the linear SVM (18); C̄ = {self.C:.6g} "
            "(Theorem 9)",
            *self._table("a → 0", "a", self.unique_offsets[1]),
        ]
        return "\n".join(lines)

    def _table(self, limit: str, unit: str, unique: bool) -> list[str]:
        heads = ("kernel", limit[0], "C", "Δ objective", "Δ decision", f"/ {unit}")
        lines = ["  {:<14} {:>8} {:>10} {:>12} {:>12} {:>10}".format(*heads)]
        lines += [
            f"  {row.kernel:<14} {row.parameter:>8.4g} {row.C:>10.3g} {row.objective:>12.2e} "
            f"{row.decision:>12.2e} {row.ratio:>10.3g}"
            for row in self.rows
            if row.limit == limit
        ]
        return lines if unique else [*lines, "  The offset of the limit is not unique."]


def limit_study(
    X: ArrayLike,
    y: ArrayLike,
    a: float | None = None,
    C: float = 1.0,
    shifts: Sequence[float] = (-1.0, -2.0, -3.0, -4.0, -5.0, -6.0),
    scales: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4),
    X_new: ArrayLike | None = None,
) -> LimitStudy:
    r"""Measure how fast the sigmoid SVM tends to (17), and (17) and the RBF SVM to the linear one.

    .. math:: (17)\quad \min_{\tilde\alpha}\
              \tfrac12\sum_{ij}\tilde\alpha_i\tilde\alpha_j y_i y_j e^{2a x_i^\top x_j}
              - e^\top\tilde\alpha
              \quad\text{s.t.}\quad 0 \le \tilde\alpha \le \tilde C,\ y^\top\tilde\alpha = 0

    Parameters
    ----------
    X : (n, d) array_like
        Distinct points, one per row.
    y : (n,) array_like
        Labels of two classes.
    a : float, optional
        Positive; 1/d if not given.
    C : float
        C̃ in the first limit, C̄ in the second.
    shifts, scales : sequences of float
        Values of r from -300 to 300, and of a from 1e-300 upwards.
    X_new : (m, d) array_like, optional
        Points at which decision values are compared, besides the training points.

    Raises
    ------
    ProblemError
        If X or X_new is not a finite matrix, y does not have two classes, or exp(2a⟨x, z⟩)
        overflows.
    ParameterError
        If a, C, a shift or a scale is out of range.

    Notes
    -----
    The sigmoid SVM is solved in the equivalent form (16) with the kernel (K + eeᵀ)/(1 + tanh r),
    because tanh(a⟨x, z⟩ + r) itself rounds to -1. With t = e^{2r} and s = ⟨x, z⟩ that kernel is
    e^{2as}(1 + t)/(1 + te^{2as}), which differs from e^{2as} by O(t), so that differences shrink
    like e^{2r}. Likewise (e^{2as} - 1)/(2a) = s + O(a), and (e^{-a‖x - z‖²} - 1)/(2a) = s + O(a)
    up to terms in x or z alone; constants and such terms drop out because yᵀα = 0. In the first
    line of Theorem 9 the paper prints C = C̄/(1 + tanh r); C̃ = C̄/(2a) is meant, as in Theorem 8.
    The inner limit of Theorem 9 is that of Theorem 8, so its outer limit starts from (17).

    References
    ----------
    Lin & Lin (2003), (15) to (18), Theorems 8 and 9.

    Examples
    --------
    >>> X, y = [[-2.0], [-0.5], [0.2], [1.0], [3.0]], [-1, -1, 1, -1, 1]
    >>> print(limit_study(X, y, a=0.1, C=1.0, shifts=(-2, -4), scales=(1e-2, 1e-4)))
    r → -∞: (2) with tanh(a⟨x, z⟩ + r), C = C̃/(1 + tanh r), against (17); a = 0.1, C̃ = 1 (Theorem 8)
      kernel                r          C  Δ objective   Δ decision     / e^2r
      sigmoid              -2       27.8     5.65e-02     4.24e-02       2.31
      sigmoid              -4   1.49e+03     1.06e-03     8.11e-04       2.42
    a → 0: (17) and RBF, C̃ = C̄/(2a), against the linear SVM (18); C̄ = 1 (Theorem 9)
      kernel                a          C  Δ objective   Δ decision        / a
      exp(2a⟨x, z⟩)      0.01         50     3.16e-02     1.76e-01       17.6
      RBF                0.01         50     9.56e-03     2.33e-01       23.3
      exp(2a⟨x, z⟩)    0.0001      5e+03     3.05e-04     1.85e-03       18.5
      RBF              0.0001      5e+03     9.36e-05     2.56e-03       25.6
    """
    from scipy.spatial.distance import cdist

    points, a, _ = checked_sigmoid(X, a, 0.0)
    checks.positive("a", a)
    checks.weight_bound("C", C)
    for r in shifts:
        checks.number("shifts", r, -300.0, 300.0)
    for scale in scales:
        checks.number("scales", scale, 1e-300, 1e300)
    extra = points[:0] if X_new is None else checked_points("X_new", X_new, points.shape[1])
    at = np.vstack([points, extra])

    def train(kernel: Pairs) -> _Trained:
        """The SVM with a kernel in ⟨x, z⟩ and ‖x - z‖²."""
        with np.errstate(over="ignore"):
            rows = kernel(at @ points.T, cdist(at, points, "sqeuclidean"))
            K = kernel(points @ points.T, cdist(points, points, "sqeuclidean"))
        result = solve(KernelProblem(K, y), SVMDual(C=C), "smo", tol=SOLVER_TOL)
        alpha = result.values["alpha"]
        # Well above `SOLVER_TOL`, and far below the weights of typical free support vectors.
        free = (alpha > 1e-8 * C) & (alpha < (1.0 - 1e-8) * C)
        decisions = result.classifier.decision_function(rows)
        return _Trained(result.objective, decisions, bool(free.any()), result.residual)

    exponential, linear = train(lambda s, _: np.exp(2.0 * a * s)), train(lambda s, _: s)
    trained, rows = [exponential, linear], []
    for r in map(float, shifts):
        sigmoid = train(_normalised(a, r))
        cost = C / float(one_plus_tanh(np.array(r)))
        rows.append(_row("r → -∞", "sigmoid", r, cost, np.exp(2.0 * r), sigmoid, exponential))
        trained.append(sigmoid)
    for scale in map(float, scales):
        for name, kernel in (("exp(2a⟨x, z⟩)", _grown(scale)), ("RBF", _gaussian(scale))):
            near = train(kernel)
            rows.append(_row("a → 0", name, scale, 0.5 * C / scale, scale, near, linear))
            trained.append(near)
    unique = (exponential.unique, linear.unique)
    return LimitStudy(a, C, tuple(rows), unique, max(each.residual for each in trained))


@dataclass(frozen=True, eq=False)
class _Trained:
    """A trained SVM; `unique` says whether b is."""

    objective: float
    decisions: Array
    unique: bool
    residual: float


def _row(
    limit: str, kernel: str, parameter: float, C: float, unit: float, near: _Trained, end: _Trained
) -> LimitRow:
    objective = abs(near.objective - end.objective)
    decision = float(np.max(np.abs(near.decisions - end.decisions)))
    return LimitRow(limit, kernel, parameter, C, float(unit), objective, decision)


def _normalised(a: float, r: float) -> Pairs:
    """(1 + tanh(as + r))/(1 + tanh r), the kernel of (16)."""
    end = log_half(np.array(r))
    return lambda s, _: np.exp(log_half(a * s + r) - end)


def _grown(a: float) -> Pairs:
    """(e^(2as) - 1)/(2a), which is e^(2as) rescaled for ᾱ = 2aα̃, less a constant."""
    return lambda s, _: np.expm1(2.0 * a * s) / (2.0 * a)


def _gaussian(a: float) -> Pairs:
    """(e^(-a‖x - z‖²) - 1)/(2a), which is the RBF kernel rescaled likewise, less a constant."""
    return lambda _, squared: np.expm1(-a * squared) / (2.0 * a)
