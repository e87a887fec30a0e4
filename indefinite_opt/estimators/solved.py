"""What estimators share that solve a problem in `fit`: weights, seeds and warnings."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples, check_random_state

from indefinite_opt.errors import ParameterError
from indefinite_opt.estimators.multiclass import Machine, Pair
from indefinite_opt.estimators.parameters import KernelEstimator
from indefinite_opt.formulations import known
from indefinite_opt.foundation import Array, checks, refuse_mask
from indefinite_opt.modeling import weighted_bound
from indefinite_opt.problem import KernelProblem, remarks
from indefinite_opt.quadratic import Gram, Solver, Status
from indefinite_opt.studies.baselines import Baseline
from indefinite_opt.workflow import solve


class SolvedEstimator(KernelEstimator):
    """An estimator whose machines come from a solver."""

    _called: ClassVar[str] = "machines"
    """What warnings call the machines."""

    _machines: Any
    solver: Any
    tol: Any
    random_state: Any

    def _weights_of_points(self, X: Any, sample_weight: Any) -> Array:
        """Weights of the points; 0 leaves a point out, as negative ones do in LIBSVM."""
        if sample_weight is None:
            return np.ones(_num_samples(X))
        refuse_mask("sample_weight", sample_weight, "an array without a mask")
        count = _num_samples(X)
        if checks.is_number(sample_weight):
            sample_weight = np.full(count, sample_weight)
        weights: Array = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
        if weights.shape != (count,):
            raise ValueError(
                f"sample_weight: expected a 1D array with a weight for each of {count} points, got "
                f"shape {weights.shape}"
            )
        weights = np.maximum(weights, 0.0)
        if not weights.any():
            raise ValueError(
                "sample_weight: expected a weight that is not zero and not negative. "
                "Invalid input - all samples have zero or negative weights."
            )
        for weight in (weights[weights > 0.0].min(), weights.max()):
            checks.weight_bound("sample_weight", float(weight))
        return weights

    def _weighted(self, method: Any, weights: Array | None, argument: str = "sample_weight") -> Any:
        """The formulation or baseline with the weights of its points, which errors call so."""
        # Weights of points make no difference to an infinite C.
        if weights is None or getattr(method, "C", 0.0) == np.inf:
            return method
        if not hasattr(method, "weights"):
            takers = [
                name for name, cls in known().items()
                if hasattr(cls, "weights") and cls.task == method.task
            ]  # fmt: skip
            raise ParameterError(
                argument, f"None, as {type(method).__name__} takes no weights",
                "weights of points" + " or classes" * (method.task == "classification"),
                f"Formulations that do: {', '.join(takers)}.",
            )  # fmt: skip
        weighted_bound(getattr(method, "C", 1.0), weights, weights.size, argument)
        return replace(method, weights=weights)

    def _solver_for(self, method: Any) -> str | Solver[Any] | None:
        solver: str | Solver[Any] | None = self.solver
        return solver

    def _machine_of(
        self, method: Any, problem: KernelProblem, seed: int, pair: Pair = (0,)
    ) -> Machine:
        """The machine of a formulation, or of a baseline, trained on a problem."""
        if isinstance(method, Baseline):
            return Machine(pair, method.fit(problem, seed))
        result = solve(
            problem, method, self._solver_for(method), self.tol, max_iter=self._step_limit(),
            seed=seed,
        )  # fmt: skip
        return Machine.of(pair, result)

    def _set_further_attributes(self, X: Any) -> None:
        """Attributes of a fit to X that predictions do not need."""

    def _seed(self) -> int:
        seed = self.random_state or 0
        if checks.is_whole(seed):
            return int(seed)
        return int(check_random_state(seed).randint(2**31 - 1))

    def _step_limit(self) -> int | None:
        return None

    def _advice(self) -> str:
        """What to do if a solver stopped short of the tolerance without a limit of steps."""
        return "try another solver or tol"

    def _warn_of_oddities(self, gram: Gram, stacklevel: int = 3) -> None:
        """Warn the caller of `fit` if the kernel matrix looks like a mistake."""
        advice = 'kernel="distance(form=linear)" with metric="precomputed"'
        if "metric" not in self.get_params(deep=False):
            advice = "-D**2 / 2, in fit and in predict"
        for remark in remarks(gram, advice):
            warnings.warn(remark, UserWarning, stacklevel=stacklevel)

    def _warn_of_doubts(self, members: list[Machine], stacklevel: int = 3) -> None:
        """Warn the caller of `fit` if solvers stopped short of the tolerance."""
        doubtful = [m.result for m in members if m.result is not None and m.result.doubt]
        if not doubtful:
            return
        limit = self._step_limit()
        limited = limit and all(result.status is Status.MAX_ITER for result in doubtful)
        # The words of scikit-learn, for which filters of warnings may look.
        early = (
            f"Solver terminated early (max_iter={limit}).  Consider pre-processing your data with "
            "StandardScaler or MinMaxScaler. "
        )
        advice = "increase max_iter" if limited else self._advice()
        worst = max(doubtful, key=lambda result: result.residual)
        warnings.warn(
            f"{early if limited else ''}"
            f"{len(doubtful)} of {len(members)} {self._called} did not reach tol: "
            f"{advice}. The worst: {worst.doubt} See `certificate_`.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
