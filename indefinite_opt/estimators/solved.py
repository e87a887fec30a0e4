"""What estimators share that solve a problem in `fit`: weights, seeds and warnings."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_random_state

from indefinite_opt.estimators.multiclass import Machine
from indefinite_opt.estimators.parameters import KernelEstimator
from indefinite_opt.foundation import Array, checks, refuse_mask
from indefinite_opt.problem import remarks
from indefinite_opt.quadratic import DenseGram, Status


class SolvedEstimator(KernelEstimator):
    """An estimator whose machines come from a solver."""

    _called: ClassVar[str] = "machines"
    """What warnings call the machines."""

    _machines: Any
    solver: Any
    tol: Any
    random_state: Any

    def _weights_of_points(self, X: Any, sample_weight: Any) -> Array:
        if sample_weight is None:
            return np.ones(X.shape[0])
        refuse_mask("sample_weight", sample_weight, "an array without a mask")
        weights: Array = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        if not weights.any():
            raise ValueError("sample_weight: expected a weight that is not zero, got zeros only")
        for weight in (weights[weights > 0.0].min(), weights.max()):
            checks.weight_bound("sample_weight", float(weight))
        return weights

    def _seed(self) -> int:
        seed = self.random_state or 0
        if checks.is_whole(seed):
            return int(seed)
        return int(check_random_state(seed).randint(2**31 - 1))

    def _step_limit(self) -> int | None:
        return None

    def _warn_of_oddities(self, gram: DenseGram, stacklevel: int = 3) -> None:
        """Warn the caller of `fit` if the kernel matrix looks like a mistake."""
        for remark in remarks(gram, 'kernel="distance(form=linear)" with metric="precomputed"'):
            warnings.warn(remark, UserWarning, stacklevel=stacklevel)

    def _warn_of_doubts(self, members: list[Machine], stacklevel: int = 3) -> None:
        """Warn the caller of `fit` if solvers stopped short of the tolerance."""
        doubtful = [m.result for m in members if m.result is not None and m.result.doubt]
        if not doubtful:
            return
        limited = all(result.status is Status.MAX_ITER for result in doubtful)
        advice = (
            "increase max_iter" if limited and self._step_limit() else "try another solver or tol"
        )
        worst = max(doubtful, key=lambda result: result.residual)
        warnings.warn(
            f"{len(doubtful)} of {len(members)} {self._called} did not reach tol: "
            f"{advice}. The worst: {worst.doubt} See `certificate_`.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
