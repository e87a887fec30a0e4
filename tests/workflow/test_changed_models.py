"""Models that read what changes: each answer is about the model at the time when it was asked for.

With K = I and g > 0 the maximum of g·eᵀa - ½‖a‖² on 0 ≤ a ≤ u is n(ga - ½a²) at a = min(g, u).
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import subprocess
import sys
import types
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.threads import run_together
from indefinite_opt.errors import ProblemError
from indefinite_opt.quadratic import proof_checker

UPPER = 1.0
END = cvxpy.Parameter(value=1.0)


@dataclasses.dataclass(frozen=True)
class Boxed(iopt.Formulation):
    gain: Any = 4

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        a, gain = cp.Variable(problem.n, name="a"), 2.0 if self.gain is True else float(self.gain)
        return cp.Model(
            maximize=gain * cp.sum(a) - 0.5 * cp.quad_form(a, problem.symbols("Q")[0]),
            subject_to={"lower": a >= 0, "upper": a <= UPPER},
            coef=cp.multiply(problem.y, a),
        )


def optimum(gain: float, upper: float, n: int = 2) -> float:
    a = min(gain, upper)
    return n * (gain * a - 0.5 * a * a)


@pytest.fixture
def problem() -> iopt.KernelProblem:
    return iopt.KernelProblem(np.eye(2), [1, -1])


@pytest.fixture
def upper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    return lambda value: monkeypatch.setattr(sys.modules[__name__], "UPPER", value)


def test_answers_stay_about_what_was_asked(
    problem: iopt.KernelProblem, upper: Any, tmp_path: Path
) -> None:
    first, bracket = iopt.solve(problem, Boxed()), iopt.bound(problem, Boxed())
    certificate = iopt.verify(problem, Boxed(), {"a": [1.0, 1.0]})
    upper(3.0)
    for values in (first.values, bracket.values):
        values["a"][:] = 0.5
    second = iopt.solve(problem, first.formulation)
    assert first.certificate.objective == pytest.approx(optimum(4.0, 1.0))
    assert second.objective == second.certificate.objective == pytest.approx(optimum(4.0, 3.0))
    assert first.classifier.coef == pytest.approx([1.0, -1.0])
    assert first.certificate.claim is second.certificate.claim is iopt.Claim.GLOBAL
    assert bracket.check(problem) == pytest.approx(optimum(4.0, 1.0))
    assert "a ≤ 3" in str(bracket.formulation.declare(problem))
    for name, each in (("later", first.certificate), ("before", certificate)):
        document = json.loads(each.save(tmp_path / f"{name}.json").read_text())
        assert proof_checker.check(document)[0] == pytest.approx(optimum(4.0, 1.0)), name


def test_true_is_not_one(problem: iopt.KernelProblem) -> None:
    assert iopt.solve(problem, Boxed(1)).objective == pytest.approx(optimum(1.0, 1.0))
    assert iopt.solve(problem, Boxed(True)).objective == pytest.approx(optimum(2.0, 1.0))


def test_an_equal_model_is_compiled_once(
    problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    formulation, weights = iopt.SVMDual(), np.ones(2)
    programs = [formulation.compiled(problem), iopt.SVMDual().compiled(problem)]
    weighted = [iopt.OneClassSVM(weights=weights).compiled(problem) for _ in range(2)]
    assert programs[0] is programs[1]
    assert weighted[0] is weighted[1]
    assert iopt.SVMDual(2.0).compiled(problem) is not programs[0]


def test_a_cvxpy_parameter_in_a_program_that_cvxpy_evaluates(problem: iopt.KernelProblem) -> None:
    """min ‖x‖₂ with x₀ ≥ END has the value END."""

    @dataclasses.dataclass(frozen=True)
    class Norm(iopt.Formulation):
        def model(self, problem: iopt.KernelProblem) -> cp.Model:
            x = cvxpy.Variable(2, name="x")
            return cp.Model(minimize=cvxpy.norm(x, 2), subject_to={"end": x[0] >= END})

    try:
        results = []
        for value in (1.0, 5.0, 1.0):
            END.value = value
            results.append(iopt.solve(problem, Norm()))
        END.value = 9.0
        for result, right in zip(results, (1.0, 5.0, 1.0), strict=True):
            assert result.objective == pytest.approx(right, rel=1e-5)
            assert result.certificate.primal_residual < 1e-6
    finally:
        END.value = 1.0


def test_a_parameter_without_a_value_is_named(problem: iopt.KernelProblem) -> None:
    empty = cvxpy.Parameter(name="empty")

    @dataclasses.dataclass(frozen=True)
    class Empty(iopt.Formulation):
        def model(self, problem: iopt.KernelProblem) -> cp.Model:
            x = cvxpy.Variable(2, name="x")
            return cp.Model(minimize=cvxpy.sum(x), subject_to={"end": x >= empty})

    with pytest.raises(ProblemError, match="the parameter empty without a value"):
        iopt.solve(problem, Empty())


def test_a_pickled_result_is_about_its_model_or_refused(
    problem: iopt.KernelProblem, upper: Any
) -> None:
    kept = pickle.dumps(iopt.solve(problem, Boxed()))
    again = pickle.loads(kept).with_problem(problem)
    assert again.certificate.objective == pytest.approx(optimum(4.0, 1.0))
    upper(3.0)
    with pytest.raises(ProblemError, match="formulation: expected the model that was solved"):
        _ = pickle.loads(kept).with_problem(problem).certificate


def test_formulations_in_threads_have_classifiers_of_their_own() -> None:
    problem = iopt.KernelProblem([[2.0, 0.5], [0.5, 3.0]], [1, -1])
    formulations = [iopt.SVDD(C=1.0), iopt.OneClassSVM(nu=1.0), iopt.SVDD(C=0.6)]
    rights = [
        iopt.solve(iopt.KernelProblem(problem.K, problem.y), each).classifier.coef
        for each in formulations
    ]
    wrong: list[Any] = []

    def work(formulation: Any, right: np.ndarray) -> None:
        for _ in range(20):
            found = iopt.solve(problem, formulation).classifier.coef
            if not np.allclose(found, right, atol=1e-5):
                wrong.append(found)

    run_together(map(partial, [work] * 3, formulations, rights))
    assert not wrong


TEXT = """
from dataclasses import dataclass
import indefinite_opt as iopt
import indefinite_opt.algebra as cp
UPPER = {upper}

@dataclass(frozen=True)
class Mine(iopt.Formulation):
    def model(self, problem):
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y = problem.symbols("Q", "y")
        return cp.Model(
            maximize=cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q),
            subject_to={{"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= UPPER}},
            coef=cp.multiply(y, alpha), offset="balance",
        )

def kernel(X, Z):
    return {factor} * (X @ Z.T)
"""


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    made = types.ModuleType("mine_of_a_user")
    sys.modules[made.__name__] = made
    write(made)
    yield made
    del sys.modules[made.__name__]


def write(module: types.ModuleType, upper: float = 1.0, factor: float = 1.0) -> None:
    exec(TEXT.format(upper=upper, factor=factor), module.__dict__)


def objectives(module: Any, method: Any, store: Path, resume: bool = True) -> tuple[int, list[Any]]:
    """How many cells were run, and their objectives."""
    X = np.random.default_rng(0).normal(size=(20, 2)) + np.repeat([[-1.0], [1.0]], 10, axis=0)
    data = iopt.studies.Data(iopt.KernelProblem.from_data(X, np.repeat([0, 1], 10), "linear"))
    study = iopt.studies.Study({"two": data}, {"one": method}, 2, ["objective"])
    before = store.read_text().count("\n") if store.exists() else 0
    found = study.run(store, resume=resume, progress=False).column("two", "one", "objective")
    return store.read_text().count("\n") - before, found


def test_resumed_cells_know_the_model(module: Any, tmp_path: Path) -> None:
    store = tmp_path / "cells.jsonl"
    count, first = objectives(module, module.Mine(), store)
    assert (count, objectives(module, module.Mine(), store)) == (2, (0, first))
    write(module, upper=0.001)
    count, edited = objectives(module, module.Mine(), store)
    assert (count, edited) == (2, objectives(module, module.Mine(), tmp_path / "fresh.jsonl")[1])
    assert edited != first
    module.UPPER = 1.0
    assert objectives(module, module.Mine(), store) == (0, first)


def test_resumed_cells_know_the_functions_of_a_grid(module: Any, tmp_path: Path) -> None:
    store = tmp_path / "cells.jsonl"
    runs = []
    for factor in (1.0, 4.0, 4.0):
        write(module, factor=factor)
        grid = iopt.studies.Grid("SVMDual", kernel=module.kernel)
        runs.append(objectives(module, grid, store))
    assert [count for count, _ in runs] == [2, 2, 0]
    assert runs[0][1] != runs[1][1] == runs[2][1]


def test_a_process_with_another_model_says_so(module: Any) -> None:
    """What another process imports may be older or newer than what the study was asked for."""
    problem = iopt.KernelProblem(np.eye(8), [1, -1] * 4)
    study = iopt.studies.Study({"eye": problem}, {"one": module.Mine()}, 2)
    (cell, *_) = study._cells()
    assert not cell.rows()[0]["error"]
    module.UPPER = 0.5
    with pytest.raises(iopt.errors.ParameterError, match="one as it was when the study began"):
        cell.rows()


def test_arrays_of_a_data_set_are_those_of_the_study() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    data = iopt.studies.Data(iopt.datasets.Dataset("points", np.array([0, 1] * 6), X=X))
    before = data.digest
    X[:] = 0.0
    assert np.any(data.problem.X)
    assert data.digest == before


SCRIPT = """
import numpy as np, sys
import indefinite_opt as iopt
from mine_in_a_file import Mine
problem = iopt.KernelProblem(np.eye(8), [1, -1] * 4)
study = iopt.studies.Study({"eye": problem}, {"one": Mine()}, 2, ["objective"])
print(study.run(sys.argv[1], progress=False).column("eye", "one", "objective"))
"""


@pytest.mark.slow
def test_a_file_that_is_edited_between_two_processes(tmp_path: Path) -> None:
    printed = []
    for upper in (1.0, 0.5, 0.5):
        (tmp_path / "mine_in_a_file.py").write_text(TEXT.format(upper=upper, factor=1.0))
        command = [sys.executable, "-B", "-c", SCRIPT, "cells.jsonl"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        printed.append((run.stdout, (tmp_path / "cells.jsonl").read_text().count("\n")))
    # K = I: each of four training points has the weight u, and the objective is 4u - 2u².
    assert printed[0] == ("[2.0, 2.0]\n", 2)
    assert printed[1] == printed[2] == ("[1.5, 1.5]\n", 4)
