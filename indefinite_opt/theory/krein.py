"""Certificates of stabilised solutions in a Krein space, and its Rademacher average.

See Loosli, Ong & Canu (2013, 2016).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ParameterError
from indefinite_opt.formulations import ESVM
from indefinite_opt.foundation import Array, checked_values, checks
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.quadratic import relative
from indefinite_opt.theory.numbers import Numbers


@dataclass(frozen=True, eq=False)
class KreinCertificate(Numbers):
    """How far the weights α̃ of a stabilised SVM are from satisfying its conditions with K.

    Attributes
    ----------
    infeasibility : float
        Relative violation of yᵀα̃ = 0 and 0 ≤ α̃ ≤ C.
    link : float
        ‖coef - V sign(Λ)Vᵀ(y∘α̃)‖ of the classifier's coefficients, relative to ‖coef‖.
    residual : float
        Largest violation of the hinge conditions by a margin y_i f(x_i) with the original kernel:
        at least 1 where α̃_i = 0, at most 1 where α̃_i = C, and equal to 1 in between.
    primal, dual : float
        ½⟨f, f⟩_|K| + C Σ max(0, 1 - y_i f(x_i)), and eᵀα̃ - ½⟨f, f⟩_|K|.
    square, krein_square : float
        ⟨f, f⟩_|K| = ‖f₊‖² + ‖f₋‖², and ⟨f, f⟩_K = ‖f₊‖² - ‖f₋‖², which may be negative.
    margins : (n,) array
        y_i f(x_i).
    tol : float

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])     # α̃ = (1, 1)
    >>> esvm = iopt.ESVM(C=10.0)
    >>> checked = iopt.theory.krein_certificate(problem, esvm, iopt.solve(problem, esvm).values)
    >>> checked.holds, round(checked.square, 9), round(checked.krein_square, 9)
    (True, 2.0, -2.0)
    """

    infeasibility: float
    link: float
    residual: float
    primal: float
    dual: float
    square: float
    krein_square: float
    margins: Array = field(repr=False)
    tol: float

    @property
    def gap(self) -> float:
        """primal - dual."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap relative to the dual; see `gaps`."""
        return relative(abs(self.gap), abs(self.dual))

    @property
    def violation(self) -> float:
        """The largest of infeasibility, link, residual and relative gap."""
        return float(np.max([self.infeasibility, self.link, self.residual, self.relative_gap]))

    @property
    def holds(self) -> bool:
        """Whether all conditions hold within `tol`."""
        return self.violation <= self.tol


def krein_certificate(
    problem: KernelProblem,
    formulation: ESVM,
    values: Mapping[str, ArrayLike],
    tol: float = 1e-6,
) -> KreinCertificate:
    """Check the stabilisation conditions with the original kernel; K̃ is not used.

    Parameters
    ----------
    problem : KernelProblem
    formulation : ESVM
    values : mapping of str to array_like
        α̃ under its declared name, as in `Result.values`.
    tol : float
        Relative tolerance of every condition; weights within tol of a bound count as there.

    Raises
    ------
    ParameterError
        For a formulation that does not stabilise, or a tolerance outside (0, 1).
    ProblemError
        If the values have wrong names or shapes, or are not finite.

    Notes
    -----
    With z = y∘α̃ and P = V sign(Λ)Vᵀ the coefficients are Pz, and ⟨f, f⟩_|K| = (Pz)ᵀ|K|(Pz) =
    zᵀK(Pz) needs only the matrix K; the eigenvectors are trusted.

    References
    ----------
    Loosli, Ong & Canu (2013), Algorithm 1, (8), (14), (15).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> certificate = krein_certificate(problem, iopt.ESVM(C=10.0), {"alpha": [1.0, 1.0]})
    >>> certificate.holds
    True
    >>> round(certificate.square, 12), round(certificate.krein_square, 12)
    (2.0, -2.0)
    >>> round(krein_certificate(problem, iopt.ESVM(C=10.0), {"alpha": [0.9, 0.9]}).residual, 12)
    0.1
    """
    check_problem(problem)
    checks.tolerance("tol", tol)
    if not isinstance(formulation, ESVM):
        raise ParameterError(
            "formulation", "a formulation with a stabilised kernel: ESVM", repr(formulation)
        )
    qp = formulation.program(problem)
    alpha = checked_values("values", values, {qp.variable: (qp.n,)})[qp.variable]
    y, z = problem.y, problem.y * alpha
    stabilised = formulation.stabilised(problem)
    expected = stabilised.coefficients(z)
    classifier = formulation.classifier(problem, {qp.variable: alpha})
    coef = classifier.coef
    link = float(np.linalg.norm(coef - expected)) / (float(np.linalg.norm(expected)) or 1.0)

    scores = problem.gram.times(coef)
    margins = y * (scores + classifier.offset)
    lower, upper = qp.feasible.at_bounds(alpha, tol)
    short, long = np.where(upper, 0.0, 1.0 - margins), np.where(lower, 0.0, margins - 1.0)
    residual = max(float(short.max()), float(long.max()), 0.0)
    square = float(z @ scores)
    primal = 0.5 * square + float(qp.feasible.upper) * float(np.maximum(1.0 - margins, 0.0).sum())
    dual = float(alpha.sum()) - 0.5 * square
    return KreinCertificate(
        infeasibility=qp.infeasibility(alpha),
        link=link,
        residual=residual,
        primal=primal,
        dual=dual,
        square=square,
        krein_square=float(coef @ scores),
        margins=margins,
        tol=float(tol),
    )


def loosli_proposition_3_1(problem: KernelProblem) -> float:
    r"""The bound √M on the Rademacher average of the unit ball of the kernel's Krein space.

    .. math:: R_n(\mathcal B)
              = \mathbb E_\varepsilon\ \frac1{\sqrt n} \sup_{\|f_+\|^2 + \|f_-\|^2 \le 1}
                \Bigl|\sum_i \varepsilon_i f(x_i)\Bigr|
              = \mathbb E_\varepsilon \sqrt{\varepsilon^\top\tilde K\varepsilon / n}
              \le \sqrt M,\qquad M = \tfrac1n\sum_i \tilde k(x_i, x_i) = \tfrac1n\sum_i |\lambda_i|

    with independent signs ε, K = VΛVᵀ and K̃ = V|Λ|Vᵀ, the kernel k̃ = k₊ + k₋ on the points.

    Parameters
    ----------
    problem : KernelProblem

    Returns
    -------
    float
        √M, with an allowance for the rounding of the eigenvalues.

    Raises
    ------
    ProblemError
        If rows of K are computed on demand, or K was changed after the problem was made.

    References
    ----------
    Loosli, Ong & Canu (2013), Proposition 3.1, after Ong (2005) and Mendelson (2003).

    Examples
    --------
    >>> round(loosli_proposition_3_1(KernelProblem([[0.0, 4.0], [4.0, 0.0]], [1, -1])), 9)
    2.0
    """
    check_problem(problem)
    total = float(np.abs(problem.spectrum.values).sum())
    return float(np.sqrt(total / problem.n + problem.zero_tolerance))
