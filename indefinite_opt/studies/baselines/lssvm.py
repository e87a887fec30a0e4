"""Least squares support vector machines and kernel ridge regression, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import EPS, Array, checks, one_thread
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.baselines.baseline import Baseline


@dataclass(frozen=True)
class LSSVM(Baseline):
    r"""The least squares SVM: a stationary point of ½wᵀw + (C/2) Σe_i² with y_i f(x_i) = 1 - e_i.

    f(x) = Σ a_i k(x_i, x) + b solves one linear system, whatever the signs of the eigenvalues:

    .. math:: (K + I/C)\,a + b\,e = y, \qquad e^\top a = 0

    It is singular where -1/C is an eigenvalue of K on the vectors of sum 0. Where `LeastSquaresSVM`
    has an optimum it is this point; else this point is a saddle (Huang, Maier, Hornegger & Suykens
    2017).

    Parameters
    ----------
    C : float
        Price of the squared errors.

    References
    ----------
    Suykens & Vandewalle (1999); Huang, Maier, Hornegger & Suykens (2017).

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], ["a", "b"])   # x = 1 and x = -1
    >>> fitted = LSSVM(C=1.0).fit(problem)                # (2 + 1)a = 1 in each class
    >>> fitted.coef, fitted.predict([[3.0, -3.0]]).tolist()
    (array([-0.33333333,  0.33333333]), ['a'])
    """

    C: float = 1.0

    reference: ClassVar[str] = "Suykens & Vandewalle (1999)"

    def __post_init__(self) -> None:
        checks.weight_bound("C", self.C)

    def fit(self, problem: KernelProblem, seed: int = 0) -> Classifier:
        """Solve the system; nothing is random.

        Raises
        ------
        ParameterError
            If the system is singular to rounding, with a C near to this one for which it is not.
        """
        self.check_task(problem)
        t = problem.targets if self.task == "regression" else problem.y
        return Classifier(*least_squares(problem, t, self.C), problem.classes)


@dataclass(frozen=True)
class KernelRidge(LSSVM):
    r"""Kernel ridge regression with an offset: the system of `LSSVM`, with targets for labels.

    f(x) = Σ a_i k(x_i, x) + b solves

    .. math:: (K + I/C)\,a + b\,e = t, \qquad e^\top a = 0

    It is singular where -1/C is an eigenvalue of K on the vectors of sum 0.

    Parameters
    ----------
    C : float
        Price of the squared errors, the inverse of the ridge.

    References
    ----------
    Saunders, Gammerman & Vovk (1998), Ridge regression learning algorithm in dual variables;
    Suykens et al. (2002), Least Squares Support Vector Machines, section 3.3.

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [0.0, 3.0], task="regression")
    >>> fitted = KernelRidge(C=1.0).fit(problem)                # (2 + 1)a = 1.5 for x = 1 and -1
    >>> fitted.coef, fitted.predict([[2.0, -2.0]])
    (array([-0.5,  0.5]), array([-0.5]))
    """

    reference: ClassVar[str] = "Saunders, Gammerman & Vovk (1998)"
    task: ClassVar[str] = "regression"


def least_squares(problem: KernelProblem, t: Array, C: float) -> tuple[Array, float]:
    """a, (n,), and b of (K + I/C)a + be = t and eᵀa = 0, for K of any inertia.

    Raises
    ------
    ParameterError
        If the system is singular to rounding.
    """
    # On the vectors of sum 0 the system is that of PKP + I/C, whose eigenvalues are known.
    n, spectrum = problem.n, problem.centered_spectrum
    values, vectors = spectrum.values + 1.0 / C, spectrum.vectors
    size = max(float(np.max(np.abs(spectrum.values), initial=0.0)), 1.0 / C)
    if np.any(np.abs(values) <= n * EPS * size):
        # A penalty near C whose inverse is in the middle between neighbouring -λ.
        above = -spectrum.values[-spectrum.values > (1.0 + 1e-9) / C]
        other = 2.0 / (1.0 / C + float(np.min(above) if above.size else 2.0 / C))
        raise ParameterError(
            "C", "one for which K + I/C is regular on the vectors of sum 0", f"{C:g}",
            f"-1/C is an eigenvalue there; with C = {other:.6g} it is regular.",
        )  # fmt: skip
    centered = t - t.mean()
    with one_thread():
        along = vectors.T @ centered
        # Where the spectrum has no vectors, PKP is 0.
        a: Array = vectors @ (along / values) + C * (centered - vectors @ along)
    a -= a.mean()
    mean = problem.gram.times(np.full(n, 1.0 / n))
    return a, float(t.mean() - mean @ a)
