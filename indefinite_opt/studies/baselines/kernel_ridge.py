"""Kernel ridge regression, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.studies.baselines.lssvm import least_squares


@dataclass(frozen=True)
class KernelRidge(Baseline):
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

    C: float = 1.0

    reference: ClassVar[str] = "Saunders, Gammerman & Vovk (1998)"
    task: ClassVar[str] = "regression"

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
        return Classifier(*least_squares(problem, problem.targets, self.C), problem.classes)
