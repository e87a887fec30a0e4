"""Every public class and function has its numbers, switches and names checked.

What the checks refuse is tested in `test_checks`; here one bad value shows that a check is called.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt import theory
from indefinite_opt.figures.regions import decision_regions
from indefinite_opt.formulations import known as known_formulations
from indefinite_opt.foundation.files import read_arrays, read_bytes, read_json
from indefinite_opt.problem import kernels
from indefinite_opt.problem.datasets import synthetic
from indefinite_opt.problem.kernel_matrix import RowGram
from indefinite_opt.quadratic.matrices.spectrum import eigendecomposition
from indefinite_opt.solvers import known as known_solvers
from indefinite_opt.studies.baselines import known as known_baselines

BAD = {"float": True, "int": 2.5, "bool": 2, "str": "nonsense"}
"""A value of each annotation that Python itself would take, or that reads like another."""


def checked(annotated: dict[str, Any]) -> dict[str, Any]:
    """A bad value for every number, switch and name among annotated parameters."""
    kinds = {name: str(annotation).split(" | ")[0] for name, annotation in annotated.items()}
    return {name: BAD[kind] for name, kind in kinds.items() if kind in BAD}


def parameters(cls: type) -> dict[str, Any]:
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return checked({field.name: field.type for field in fields if field.init})


KNOWN = (known_formulations(), known_solvers(), known_baselines())
KERNELS = [kernels.get(name).__class__ for name in kernels.names()]
CLASSES = [cls for cls in (*(c for known in KNOWN for c in known.values()), *KERNELS)
           if parameters(cls)]  # fmt: skip
GENERATORS = [each for each in (getattr(synthetic, name) for name in synthetic.__all__)
              if inspect.isfunction(each)]  # fmt: skip


def refuses(call: Callable[..., Any], argument: str, value: Any) -> None:
    with pytest.raises(iopt.errors.BadArgument) as caught:
        call(**{argument: value})
    assert caught.value.argument == argument, str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("made", [*CLASSES, *GENERATORS], ids=lambda made: made.__name__)
def test_parameters_of_classes_and_generators_are_checked(made: Any) -> None:
    annotated = parameters(made) if isinstance(made, type) else checked(made.__annotations__)
    for name, value in annotated.items():
        refuses(made, name, value)


LEAST = {
    "ACCPM.cuts": 2, "MultiStart.perturbations": 0, "PseudoEuclidean.p": 0, "PengWei.k": 2,
}  # fmt: skip
"""The least value of a whole number, where it is not 1."""

REAL = [-1.0, 0.0, 0.5, 2.0, np.inf]

TAKEN = {
    "SVMDual.C": REAL[2:], "MultiStart.budget": REAL[2:], "ESVM.energy": [0.5],
    "LussBall.radius": REAL[1:4], "ACCPM.proximal": REAL[1:4],
    "ProjectedGradient.smoothing": REAL[1:4], "Polynomial.r": REAL[:4], "Sigmoid.a": REAL[:4],
    "Sigmoid.r": REAL[:4], "Simpson.threshold": REAL[:4], "ConvexHullDual.relative": [2.0],
    "ConvexHullPrimal.relative": [2.0], "EpsilonSVR.epsilon": REAL[1:4],
    "NuSVM.nu": [0.5], "NuSVR.nu": [0.5], "OneClassSVM.nu": [0.5], "OneClassLP.nu": [0.5],
    "KNNDistance.nu": [0.5], "QuantileRegression.tau": [0.5], "NoisyLPSVM.kappa": REAL[1:4],
    "LaplacianSVM.gamma_I": REAL[1:4],
    "GuoSchuurmansQP.relative": [2.0], "GuoSchuurmansLP.relative": [2.0],
}  # fmt: skip
"""Which of `REAL` a number may be, where they are not those that are positive and finite."""


def taken(cls: type, name: str, values: list[Any]) -> list[Any]:
    found = []
    for value in values:
        with suppress(iopt.errors.BadArgument):
            cls(**{name: value})
            found.append(value)
    return found


def test_ranges_of_parameters_whose_defaults_may_be_numbers_of_numpy() -> None:
    titles = set()
    for cls in CLASSES:
        for name, bad in parameters(cls).items():
            title = f"{cls.__name__}.{name}"
            titles.add(title)
            if bad == BAD["int"]:
                assert taken(cls, name, list(range(-2, 6)))[0] == LEAST.get(title, 1), title
            elif bad is BAD["float"]:
                assert taken(cls, name, REAL) == TAKEN.get(title, [0.5, 2.0]), title
            default = getattr(cls(), name, None)
            if default is not None and bad in (True, 2.5):
                cls(**{name: np.asarray(default)[()]})
    assert set(LEAST) | set(TAKEN) <= titles


PAIR = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
X, Y = [[1.0, 0.0], [2.0, 1.0]], [1, -1]
PLANE = iopt.KernelProblem.from_data(X, Y, "linear")
HALF = {"alpha": [0.5, 0.5]}
TEXT = "a file that is not read"

FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "solve": (
        partial(iopt.solve, PAIR, "SVMDual"),
        {"tol": 1.0, "time_limit": 0.0, "max_iter": 2.5, "seed": -1, "solver": "hihgs",
         "prove": 0},
    ),
    "solver": (partial(iopt.solve, PAIR, "SVMDual"), {"solver": 3}),
    "solvers": (partial(iopt.compare, PAIR, ["LPSVM"]), {"solvers": ["smo"]}),
    "solve_path": (
        partial(iopt.solve_path, PAIR, ["SVMDual"]),
        {"tol": True, "time_limit": "5", "max_iter": 0, "seed": 2**32, "prove": -1},
    ),
    "bound": (
        partial(iopt.bound, PAIR, "SVMDual"),
        {"gap": 0, "atol": -1.0, "time_limit": np.nan, "max_nodes": 0, "seed": True,
         "method": "relaxations", "callback": 3},
    ),
    "verify": (
        partial(iopt.verify, PAIR, "SVMDual", HALF),
        {"tol": 0.0, "atol": -1.0, "bound": 1, "time_limit": -np.inf},
    ),
    "compare": (
        partial(iopt.compare, PAIR, ["SVMDual"]),
        {"tol": 0.0, "time_limit": 0, "seed": -1, "folds": 2.5, "n_jobs": 0, "prove": "10"},
    ),
    "krein_certificate": (
        partial(theory.krein_certificate, PAIR, iopt.ESVM(), HALF), {"tol": 0.0}
    ),
    "lift": (partial(theory.haasdonk_proposition_2, PAIR, alpha=[0.5, 0.5]), {"C": np.inf}),
    "its tolerance": (partial(theory.haasdonk_proposition_2, PAIR, 1.0, [0.5, 0.5]), {"tol": 1.0}),
    "theorem_1": (partial(theory.lin_lin_theorem_1, PAIR, alpha=[0.5, 0.5]), {"C": np.inf}),
    "svm_to_hull": (partial(theory.svm_to_hull, PAIR, alpha=[0.5, 0.5]), {"C": -1.0}),
    "lemma_5": (partial(theory.haasdonk_lemma_5, PAIR, alpha=[0.5, 0.5]), {"C": -1.0}),
    "hull_to_svm": (partial(theory.hull_to_svm, PAIR, alphabar=[1.0, 1.0]), {"mu": 0.0}),
    "analyse_sigmoid": (partial(theory.analyse_sigmoid, X, Y), {"a": np.nan, "r": np.inf}),
    "shift_threshold": (partial(theory.shift_threshold, X), {"a": -1.0}),
    "from_data": (partial(iopt.KernelProblem.from_data, X, Y, "linear"), {"cache_mb": 0}),
    "from_distances": (
        partial(iopt.KernelProblem.from_distances, [[0.0, 1.0], [1.0, 0.0]], Y),
        {"gamma": "1", "form": "linaer"},
    ),
    "RowGram": (partial(RowGram, X, "linear"), {"cache_mb": np.inf}),
    "spectrum": (partial(eigendecomposition, PAIR.K), {"leading": 3}),
    "transformed": (PAIR.transformed, {"transform": "cube"}),
    "perturbed": (partial(PAIR.perturbed, noise=0.1), {"noise": np.inf, "seed": -1}),
    "Classifier": (
        partial(iopt.modeling.Classifier, np.ones(2), 0.0, np.array(Y)), {"new_points": "all"}
    ),
    "decision_regions": (
        partial(decision_regions, PLANE, iopt.modeling.Classifier(np.ones(2), 0.0, np.array(Y))),
        {"resolution": 1},
    ),
    "read_arrays": (partial(read_arrays, TEXT), {"max_bytes": True}),
    "read_bytes": (partial(read_bytes, TEXT), {"max_bytes": 0}),
    "read_json": (partial(read_json, TEXT, "values"), {"max_bytes": "1"}),
}  # fmt: skip


@pytest.mark.parametrize(("call", "wrong"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_arguments_of_functions_are_checked(call: Any, wrong: dict[str, Any]) -> None:
    for argument, value in wrong.items():
        refuses(call, argument, value)


@pytest.mark.parametrize("problem", [None, np.eye(2), ([[1.0]], [1])], ids=str)
def test_things_that_are_no_problem(problem: Any) -> None:
    for call in (
        partial(iopt.solve, formulation="SVMDual"), partial(iopt.bound, formulation="SVMDual"),
        iopt.compare, iopt.ConfidenceProblem.from_kernel,
        partial(theory.haasdonk_proposition_2, C=1.0, alpha=[0.5, 0.5]),
        partial(theory.haasdonk_lemma_5, C=1.0, alpha=[0.5]),
    ):  # fmt: skip
        with pytest.raises(
            iopt.errors.ProblemError, match=r"^problem: expected a KernelProblem.*, got "
        ):
            call(problem)
