"""Every kernel, formulation, solver, estimator and kind of program, at sizes that users have.

As a program it makes all these calls, prints the loops that numba compiled for each, and then the
names of all that were called to their end.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from numba.core import event

import indefinite_opt as iopt
from indefinite_opt import estimators

Call = tuple[str, Callable[[], object]]

LIMIT = 0.25
"""Seconds for a solver or a bound: a loop that is needed at all is called before they are over."""

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strides": lambda values: np.repeat(values, 2, axis=-1)[..., ::2],
    "read-only": lambda values: np.frombuffer(values.tobytes()).reshape(values.shape),
    "single": lambda values: values.astype(np.float32),
    "integers": lambda values: np.rint(3.0 * values).astype(np.int64),
}
"""What arrays of users are like."""

WHOLE_OR_ROWS: tuple[dict[str, Any], ...] = ({}, {"cache_mb": 2.0})


def data(n: int, features: int) -> tuple[Any, Any]:
    """Points of two classes, and their labels."""
    X = np.random.default_rng(n).standard_normal((n, features))
    return X, np.where(X[:, 0] + 0.5 * np.cos(3.0 * X[:, 1]) > 0.0, 1, -1)


def used(make: Callable[[], Any], X: Any) -> None:
    """Make a problem, solve it, certify the solution, and predict."""
    problem = make()
    result = iopt.solve(problem, "SVMDual", time_limit=LIMIT)
    str(result.certificate)
    result.classifier.predict(problem.kernel_with(X))


def kernels() -> Iterator[Call]:
    """Kernels of points of all sizes: as matrices, as rows on demand, and as factors."""
    from_data, approximate = iopt.KernelProblem.from_data, iopt.KernelProblem.approximate
    X, y = data(1500, 10)
    for name in iopt.kernels.names():
        for precision in ("double", "single"):
            for options in WHOLE_OR_ROWS:
                make = partial(from_data, X, y, name, precision=precision, **options)
                yield name, partial(used, make, X[:400])
    for kind, given in ARRAYS.items():
        for n, features in ((300, 3), (1500, 10), (1500, 21)):
            X, y = data(n, features)
            for options in WHOLE_OR_ROWS:
                make = partial(from_data, given(X), y, "gaussian", scaling="standard", **options)
                yield f"points in {kind}", partial(used, make, given(X))
    for n in (3000, 100_000):
        X, y = data(n, 10)
        for method in ("nystrom", "random-features"):
            yield method, partial(used, partial(approximate, X, y, "gaussian", 60, method), X[:400])


def matrices() -> Iterator[Call]:
    """Similarities and distances."""
    X, y = data(700, 5)
    K, D = np.tanh(X @ X.T / 5.0 - 0.5), np.abs(X[:, None, 0] - X[None, :, 0])
    K = 0.5 * (K + K.T)
    for kind, given in ARRAYS.items():
        makes = [
            partial(iopt.KernelProblem, given(K), y, precision="double"),
            partial(iopt.KernelProblem, given(K), y, precision="single"),
            partial(iopt.KernelProblem.from_distances, given(D), y),
        ]
        for make in makes:
            yield f"matrix in {kind}", partial(solved, make, "SVMDual", None)
    for name in iopt.available_formulations():
        yield name, partial(solved, partial(iopt.KernelProblem, K, y), name, None)


def solved(make: Callable[[], Any], formulation: str, solver: str | None) -> None:
    """Solve, certify, verify, bracket, and follow a path."""
    problem = make()
    result = iopt.solve(problem, formulation, solver=solver, time_limit=LIMIT)
    str(result.certificate)
    iopt.verify(problem, formulation, result.values)
    if solver is None:
        iopt.bound(problem, formulation, time_limit=LIMIT)
        iopt.solve_path(problem, [formulation, formulation], time_limit=LIMIT)


def formulations() -> Iterator[Call]:
    """Each formulation with each of its solvers, on each kind of kernel."""
    X, y = data(160, 4)
    make = partial(iopt.KernelProblem.from_data, X, y, "sigmoid(a=0.5, r=-1)")
    problems = [
        make(), make(precision="single"), make(cache_mb=0.1),
        iopt.KernelProblem.from_data(X, y, "gaussian"),
        iopt.KernelProblem.from_factors(X, [1.0, 1.0, -1.0, 1.0], y),
        iopt.KernelProblem.from_factors(X, None, y),
        iopt.ConfidenceProblem(make().K + 0.1 * X[:, :1], y),
    ]  # fmt: skip
    for name in iopt.available_formulations():
        for solver in (None, *iopt.available_solvers(name)):
            for problem in problems:
                yield solver or name, partial(solved, partial(lambda it: it, problem), name, solver)


def programs() -> Iterator[Call]:
    """Quadratic programs with each kind of rows and each curvature, dense and sparse."""
    generator = np.random.default_rng(0)
    sparse = scipy.sparse.csr_array
    for n in (8, 90):
        half, q = generator.standard_normal((n, n)), generator.standard_normal(n)
        G, line = generator.standard_normal((3, n)), {"A": np.ones((1, n)), "b": [1.0]}
        for P in (half + half.T, half @ half.T, -half @ half.T, np.zeros((n, n))):
            for rows in ({}, line, {"G": G, "h": np.ones(3)}, {"G": G, "h": np.ones(3), **line}):
                make = partial(iopt.QuadraticProgram, P, q, lb=-1.0, ub=2.0, **rows)
                solvers = iopt.available_solvers(iopt.QuadraticProgram) if n == 8 else []
                for solver in (None, *solvers):
                    yield solver or "program", partial(program_solved, make, solver)
        for kind, given in {**ARRAYS, "sparse": sparse}.items():
            rows = {"G": given(G), "h": np.ones(3)}
            make = partial(iopt.QuadraticProgram, given(half + half.T), lb=-1.0, ub=2.0, **rows)
            yield f"program in {kind}", partial(program_solved, make, None)


def program_solved(make: Callable[[], iopt.QuadraticProgram], solver: str | None) -> None:
    program = make()
    str(iopt.solve(program, solver=solver, time_limit=LIMIT).certificate)
    if solver is None:
        iopt.bound(program, time_limit=LIMIT)


def fitted() -> Iterator[Call]:
    """Each estimator, and classifiers by each formulation and baseline, of 2 and 3 classes."""
    X, y = data(400, 7)
    made: dict[str, Callable[[], Any]] = {
        name: getattr(estimators, name) for name in estimators.__all__
    }
    for name in (*iopt.available_formulations(), *iopt.available_baselines()):
        made[name] = partial(iopt.KernelClassifier, name)
    for name, make in made.items():
        for kind in ("rows", "columns", "single"):
            for labels in (y, np.digitize(X[:, 0], [-0.5, 0.5])):
                yield name, partial(fit, make(), ARRAYS[kind](X), labels)


def fit(estimator: Any, X: Any, y: Any) -> None:
    if isinstance(estimator, iopt.SpectrumTransformer):
        estimator.fit_transform(X @ X.T)
    elif hasattr(estimator, "predict"):
        estimator.fit(X, y).predict(X[:50])
    else:
        estimator.fit(X, y).transform(X[:50])


class Listener(event.Listener):
    """Collects the loops that numba compiles instead of reading their machine code."""

    def __init__(self) -> None:
        self.loops: list[str] = []

    def on_start(self, event: Any) -> None:
        loop = event.data["dispatcher"].py_func
        if loop.__module__.startswith("indefinite_opt."):
            self.loops.append(f"{loop.__module__}.{loop.__name__}{event.data['args']}")

    def on_end(self, event: Any) -> None:
        """Nothing is measured."""


def main() -> None:
    global LIMIT
    listener, ended = Listener(), set()
    event.register("numba:compile", listener)
    warnings.simplefilter("ignore")

    def refused(calls: Iterable[Call]) -> list[Call]:
        """The calls that end in an error: of a formulation or solver that refuses the kernel."""
        failed = []
        for title, call in calls:
            try:
                call()
                ended.add(title)
            except iopt.IndefiniteOptError:
                failed.append((title, call))
            if listener.loops:
                print(f"compiled for {title}: {'; '.join(listener.loops)}")
                listener.loops.clear()
        return failed

    groups = (kernels, matrices, formulations, programs, fitted)
    again = [call for group in groups for call in refused(group())]
    LIMIT = 60.0  # on a slow machine some have no point before
    refused(call for call in again if call[0] not in ended)
    print(*(f"called: {title}" for title in sorted(ended)), sep="\n")


if __name__ == "__main__":
    main()
