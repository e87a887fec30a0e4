"""LIBSVM, through scikit-learn, on the kernel as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.baselines.baseline import Baseline


@dataclass(frozen=True)
class LIBSVM(Baseline):
    """SVC of scikit-learn with a precomputed kernel of any inertia: the usual practice.

    On an indefinite kernel it ends at a stationary point of `SVMDual`, to LIBSVM's default
    tolerance of 10⁻³ (Lin & Lin 2003). A run that reaches the limit of iterations issues
    scikit-learn's `ConvergenceWarning`.

    Parameters
    ----------
    C : float
        Upper bound of the weights.

    References
    ----------
    Chang & Lin (2011), LIBSVM; Lin & Lin (2003), section 6.

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], ["a", "b"])   # x = 1 and x = -1
    >>> fitted = LIBSVM(C=10.0).fit(problem)
    >>> fitted.coef, fitted.predict([[3.0, -3.0]]).tolist()
    (array([-0.5,  0.5]), ['a'])
    """

    C: float = 1.0

    reference: ClassVar[str] = "Chang & Lin (2011)"

    def __post_init__(self) -> None:
        checks.weight_bound("C", self.C)

    def fit(self, problem: KernelProblem, seed: int = 0) -> Classifier:
        """Train; nothing is random."""
        from sklearn.svm import SVC

        self.check_task(problem)
        # LIBSVM's own limit of pair steps for n ≤ 100 000, which scikit-learn removes.
        machine = SVC(C=self.C, kernel="precomputed", max_iter=10_000_000)
        machine.fit(problem.K, problem.y)
        coef = np.zeros(problem.n)
        coef[machine.support_] = machine.dual_coef_[0]
        return Classifier(coef, float(machine.intercept_[0]), problem.classes)
