"""What Lin & Lin (2003) prove about a sigmoid kernel, as numbers and as sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic import norm_bound, zero_tolerance

CASES = {
    0: ("a = 0", "K is the constant tanh(r), and distinguishes no two points."),
    1: (
        "a > 0, r < 0",
        "The case that suits SVMs best: K is conditionally positive definite once r is small "
        "enough, and similar to the RBF kernel for small a.",
    ),
    2: ("a > 0, r ≥ 0", "In general not as good as a > 0, r < 0."),
    3: ("a < 0, r > 0", "Not a good choice: (6) has objective value -∞ once r is large enough."),
    4: ("a < 0, r ≤ 0", "Not a good choice: the objective value of (6) is easily -∞."),
}
"""The four cases of section 3 with the verdict of the paper, and 0 for a = 0, which it omits."""


@dataclass(frozen=True)
class LeastEigenvalue:
    """The least eigenvalue of a matrix, and what rounding may have changed of it.

    Attributes
    ----------
    value : float
        For a matrix far from positive semidefinite possibly only an upper bound.
    rounding : float
        A value of at most this size may have either sign.

    Examples
    --------
    >>> least = LeastEigenvalue(-1e-16, rounding=1e-15)
    >>> least.positive, least.negative
    (False, False)
    """

    value: float
    rounding: float

    @property
    def positive(self) -> bool:
        """Whether the matrix is proved positive definite."""
        return self.value > self.rounding

    @property
    def negative(self) -> bool:
        """Whether the matrix is proved not to be positive semidefinite."""
        return self.value < -self.rounding

    def __str__(self) -> str:
        if self.positive:
            return f"positive definite (least eigenvalue {self.value:.3g})"
        if self.negative:
            return f"not positive semidefinite (least eigenvalue {self.value:.3g})"
        return f"positive semidefinite up to rounding (least eigenvalue {self.value:.1g})"


def least_eigenvalue(matrix: Array, error: float = 0.0) -> LeastEigenvalue:
    """The least eigenvalue of a symmetric matrix known up to `error` in the spectral norm."""
    import scipy.linalg

    with one_thread():
        least = scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=[0, 0])[0]
    rounding = zero_tolerance(len(matrix), norm_bound(matrix)) + error
    return LeastEigenvalue(float(least), rounding)


@dataclass(frozen=True)
class ShiftThreshold:
    r"""Where K + eeᵀ stops being positive definite as r grows, for a > 0.

    Attributes
    ----------
    sufficient : float
        Bound in closed form, ½ log(λ_min(R) / ‖R∘E‖_∞) with R_ij = exp(-a‖x_i - x_j‖²) and
        E_ij = exp(2a⟨x_i, x_j⟩). K + eeᵀ is positive definite for every r below it. -inf if
        λ_min(R) is within rounding of zero.
    proved : float
        The largest r found for which K + eeᵀ is positive definite, as it is for every smaller r.
        -inf if none was found.
    refuted : float
        The least r found for which K + eeᵀ is not positive semidefinite; it is not for any larger
        r either. inf if none was found.

    Notes
    -----
    The paper proves Theorem 4 by compactness, which gives no number. Two facts give one.

    With t = e^{2r}, K + eeᵀ = 2t G_t for G_t = E/(1 + tE) entry by entry. For t' < t,
    G_t' = G_t/(1 - (t - t')G_t) = Σ_k (t - t')ᵏ G_t^(k+1), a series of entrywise powers. If G_t is
    positive semidefinite so are they (Schur), hence G_t' ⪰ G_t. So the r with K + eeᵀ ⪰ 0 form an
    interval that reaches down to -∞, and bisection finds its end r̂ between `proved` and `refuted`.

    With D = diag(exp(a‖x_i‖²)), every entry of R - D⁻¹G_tD⁻¹ lies between 0 and that of tR∘E,
    which proves `sufficient`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> threshold = iopt.theory.shift_threshold([[0.0], [1.0]], a=1.0)
    >>> threshold.sufficient <= threshold.proved < threshold.refuted
    True
    """

    sufficient: float
    proved: float
    refuted: float

    def __str__(self) -> str:
        if np.isinf(self.proved):
            known = "K + eeᵀ is positive definite for r small enough; rounding hides how small"
        else:
            known = f"K + eeᵀ is positive definite for every r ≤ {self.proved:.6g}"
        if np.isinf(self.refuted):
            return known
        return f"{known}, and not for any r ≥ {self.refuted:.6g}"


@dataclass(frozen=True)
class ClosestPair:
    """The pair of points, y_i = +1 and y_j = -1, that decides Theorem 5."""

    i: int
    j: int
    squared_distance: float
    """K_ii + K_jj - 2K_ij."""
    rounding: float
    """Bound on the error of the squared distance; 0 where that is known to be exactly 0."""

    @property
    def unbounded(self) -> bool:
        """Whether the squared distance is proved to be at most 0."""
        return self.squared_distance + self.rounding <= 0.0


@dataclass(frozen=True)
class SigmoidAnalysis:
    """What Lin & Lin (2003) prove about a sigmoid kernel on given data; `print` it.

    Attributes
    ----------
    n : int
    a, r : float
    C : float or None
    case : int
        1 to 4 as in section 3; 0 for a = 0, which the paper omits.
    distinct : bool
        Whether x_i ≠ x_j for all i ≠ j, as Theorem 4 asks.
    squared_norms, inner_products : (least, largest)
        Of ‖x_i‖², and of ⟨x_i, x_j⟩ for i ≠ j.
    levels : (least, largest)
        Of a‖x_i‖² + r, the argument of tanh on the diagonal of K, with the exact signs.
    kernel : LeastEigenvalue
        Of K.
    conditional : LeastEigenvalue
        The least vᵀKv over ‖v‖ = 1, eᵀv = 0.
    shifted : LeastEigenvalue or None
        Of K + eeᵀ (of eeᵀ - K for a < 0) scaled to a unit diagonal; None for a = 0. Repeated
        points count once.
    threshold : ShiftThreshold or None
        For |a|; None for a = 0.
    pair : ClosestPair
    theorem_7 : (i, j) or None
        A pair that meets the conditions of Theorem 7, decided in rational arithmetic.
    separated : bool
        Whether every two points of one class, and every point with itself, have a larger kernel
        value than any two of opposite classes.
    settled : bool
        Whether K is proved conditionally positive definite on the distinct points: (6) is bounded
        unless a point occurs in both classes, where `pair` shows that it is not.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> found = iopt.theory.analyse_sigmoid([[0.0], [1.0]], [1, -1], a=1.0, r=-1.0)
    >>> found.case, found.distinct, found.cpsd
    (1, True, True)
    """

    n: int
    a: float
    r: float
    C: float | None
    case: int
    distinct: bool
    squared_norms: tuple[float, float]
    inner_products: tuple[float, float]
    levels: tuple[float, float]
    kernel: LeastEigenvalue
    conditional: LeastEigenvalue
    shifted: LeastEigenvalue | None
    threshold: ShiftThreshold | None
    pair: ClosestPair
    theorem_7: tuple[int, int] | None
    separated: bool
    settled: bool

    @property
    def psd(self) -> bool:
        """Whether K is positive semidefinite, up to rounding."""
        return not self.kernel.negative

    @property
    def cpsd(self) -> bool:
        """Whether K is conditionally positive semidefinite, up to rounding."""
        return not self.conditional.negative

    @property
    def theorem_4(self) -> bool:
        """Whether an r̂ exists below which K + eeᵀ is positive definite."""
        return self.a > 0 and self.distinct

    @property
    def lemma_2(self) -> bool:
        """Whether (9), repeated as (26), holds, so that every subproblem of SMO is convex."""
        return self.a > 0 and self.levels[1] <= 0

    @property
    def theorem_6(self) -> bool:
        """Whether r is proved to be beyond r̄, so that (6) is unbounded."""
        known = self.a < 0 and self.threshold is not None
        return known and -self.r <= self.threshold.proved  # type: ignore[union-attr]

    @property
    def theorem_10(self) -> bool:
        """Whether some K_ii < 0, so that (19) without an upper bound is unbounded."""
        return self.levels[0] < 0

    @property
    def bounded(self) -> bool | None:
        """Whether (6), C = ∞, is proved bounded (True) or unbounded (False); None if neither."""
        if self.pair.unbounded or self.theorem_7 is not None or self.theorem_6:
            return False
        return True if self.settled or self.separated else None

    @property
    def rescaled(self) -> tuple[float, float] | None:
        """C̃ = (1 + tanh r)C of (16) and C̄ = 2aC̃ of (18); None without C or for a ≤ 0."""
        if self.C is None or self.a <= 0:
            return None
        shrunk = self.C * float(one_plus_tanh(np.array(self.r)))
        return shrunk, 2.0 * self.a * shrunk

    @property
    def sentences(self) -> list[str]:
        """The results that apply, one or two sentences per entry."""
        signs, verdict = CASES[self.case]
        label = f"case {self.case}, {signs}" if self.case else signs
        said = [
            f"tanh(a⟨x, z⟩ + r) with a = {self.a:.6g}, r = {self.r:.6g} on {self.n} points: "
            f"{label}. {verdict}",
            f"K is {self.kernel}; on eᵀv = 0 it is {self.conditional}.",
        ]
        said += self._on_rounding() + self._on_thresholds() + self._on_pairs()
        said.append(self._on_boundedness())
        if self.theorem_10:
            said.append(
                f"Without the bias (19) with C = ∞ is unbounded: the least a‖x‖² + r is "
                f"{self.levels[0]:.4g} < 0 (Theorem 10)."
            )
        if self.rescaled is not None:
            said.append(
                f"C = {self.C:.6g} is C̃ = (1 + tanh r)C = {self.rescaled[0]:.4g} of (17), "
                f"C̄ = 2aC̃ = {self.rescaled[1]:.4g} of the linear SVM (18)."
            )
        return said

    def _on_rounding(self) -> list[str]:
        largest = float(one_plus_tanh(np.array(self.levels[1])))
        # Below this, computing 1 + tanh from tanh leaves at most ten correct digits.
        if self.a <= 0 or largest > 1e-6:
            return []
        return [
            f"No entry of K + eeᵀ exceeds {largest:.2g}, and tanh rounds it by 1e-16: solve (16), "
            "with the kernel theory.NormalisedSigmoid, which loses no accuracy."
        ]

    def _on_thresholds(self) -> list[str]:
        if self.threshold is None or self.shifted is None:
            return []
        if self.a > 0:
            name = "Theorem 4" if self.distinct else "Theorem 4, repeated points taken once"
            return [f"{name}: {self.threshold}. Here K + eeᵀ is {self.shifted} on a unit diagonal."]
        if np.isinf(self.threshold.proved):
            return ["Theorem 6: (6) is unbounded for every r ≥ r̄; rounding hides r̄."]
        bar = -self.threshold.proved
        here = "as here" if self.theorem_6 else "unlike here"
        return [f"Theorem 6: (6) is unbounded for every r ≥ r̄, and r̄ ≤ {bar:.6g}; {here}."]

    def _on_pairs(self) -> list[str]:
        least, largest = self.levels
        if self.a <= 0:
            return []
        if self.lemma_2:
            return [
                f"Every pair step of SMO is convex (Lemma 2, Theorem 5): the largest a‖x‖² + r is "
                f"{largest:.4g} ≤ 0."
            ]
        return [
            f"Lemma 2 does not apply: a‖x‖² + r reaches {largest:.4g} > 0 (from {least:.4g}); "
            f"it would for r ≤ {-self.a * self.squared_norms[1]:.4g}."
        ]

    def _on_boundedness(self) -> str:
        pair = self.pair
        if pair.unbounded:
            return (
                f"(6), C = ∞, is unbounded: points {pair.i} and {pair.j} of opposite classes have "
                f"K_ii + K_jj - 2K_ij = {pair.squared_distance:.4g} ≤ 0 (Theorem 5)."
            )
        if self.theorem_7 is not None:
            i, j = self.theorem_7
            return (
                f"(6), C = ∞, is unbounded: points {i} and {j} of opposite classes have "
                "⟨x_i, x_j⟩ ≤ min(‖x_i‖², ‖x_j‖²) (Theorem 7)."
            )
        if self.theorem_6:
            return "(6), C = ∞, is unbounded (Theorem 6)."
        if self.settled:
            return "(6), C = ∞, is bounded: K is conditionally positive definite (Theorem 3)."
        if self.separated:
            return (
                "(6), C = ∞, is bounded: kernel values within classes exceed those between them, "
                "so that Q + Δyyᵀ is positive for some Δ (as in the example of section 2)."
            )
        return (
            "Whether (6), C = ∞, is bounded is not known: the closest pair of opposite classes has "
            f"K_ii + K_jj - 2K_ij = {pair.squared_distance:.4g} (rounding {pair.rounding:.1g}), "
            "and K is not proved conditionally positive definite."
        )

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def one_plus_tanh(u: Array) -> Array:
    """1 + tanh u, to full relative accuracy even where tanh u rounds to -1."""
    return 2.0 * np.exp(log_half(u))


def log_half(u: Array) -> Array:
    """log((1 + tanh u)/2) = -log(1 + e^(-2u)), accurate for every u."""
    return -np.logaddexp(0.0, -2.0 * u)
